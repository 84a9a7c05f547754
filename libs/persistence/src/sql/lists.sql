-- Fragments of statements that return a page of a list, newest first (docs/sql.md).

-- fragment: newest_order(row, id)
ORDER BY @row.created_at DESC, @row.@id DESC

-- fragment: newest_next(row, id)
-- The last condition of WHERE, with ORDER BY and LIMIT, for the parameters of `before` (page.ts).
(@row.created_at, @row.@id) < (:beforeTime::timestamptz, :beforeId::uuid)
     @newest_order(@row, @id) LIMIT :rows

-- fragment: newest_position(row, id)
-- The time is text, because a JavaScript date has no microseconds.
ARRAY[@row.created_at::text, @row.@id::text] AS position

-- fragment: fitting(row, rows, bytes, order)
-- A subquery over the first of some rows in an order: as many as fit into 8 MiB (`PAGE_BYTES`), at least one. Its column `found`
-- counts all rows. `bytes` is the size of the large columns of a row. Rows that do not fit are not read.
(
    SELECT * FROM (
      SELECT @row.*, sum(@bytes) OVER (@order) AS bytes, row_number() OVER (@order) AS place,
             count(*) OVER ()::int AS found
        FROM (@rows) @row
    ) @row WHERE @row.bytes <= 8388608 OR @row.place = 1
  )

-- fragment: row_bytes(row)
-- The size of a row as JSON, for `fitting`.
octet_length(to_json(@row)::text)

-- fragment: records_order(row, at, id)
ORDER BY @row.@at DESC, @row.@id DESC

-- fragment: records_position(row, at, id, examined)
-- The position of a record. The first row of a short page also has the position of the last examined record.
ARRAY[@row.@at::text, @row.@id::text] AS position,
       CASE WHEN count(*) OVER () < :rows AND row_number() OVER (@records_order(@row, @at, @id)) = 1
            THEN (SELECT ARRAY[@row.@at::text, @row.@id::text] FROM @examined OFFSET 1000 LIMIT 1) END AS "lookedTo"

-- fragment: examined(table, row, at, id, type, scope)
-- The records of a scope in the order of its index, for the parameters of `recordPage` (record-page.ts).
@table @row
                 WHERE @scope AND (@row.@at, @row.@id) < (:beforeTime::timestamptz, :beforeId::@type) AND @row.@at >= coalesce(:from::timestamptz, '-infinity')
                 @records_order(@row, @at, @id)

-- fragment: examined_by(table, row, at, id, type, keys, values, and, order)
-- The same for a scope that is the first columns of an index. Comparisons that start with an expression match no other index,
-- regardless of statistics. So the first key is an expression. `order` has the keys, each with DESC.
@table @row
                 WHERE (@keys, @row.@at, @row.@id) < (@values, :beforeTime::timestamptz, :beforeId::@type)
                   AND (@keys, @row.@at) >= (@values, coalesce(:from::timestamptz, '-infinity')) AND @and
                 ORDER BY @order, @row.@at DESC, @row.@id DESC

-- fragment: records_page(row, at, id, examined, wanted)
-- A page of the examined records that are wanted. It examines at most 1,001: with a filter, a page may end there, short or empty.
(
    SELECT * FROM (SELECT @row.* FROM @examined LIMIT 1001) @row
     WHERE @wanted @records_order(@row, @at, @id) LIMIT :rows)

-- fragment: records_page_by_one(row, at, id, examined, wanted, key)
-- The same for a scope of one key. The planner recognizes the order of an index only by columns that the inner query returns.
(
    SELECT * FROM (SELECT @row.*, @key AS listed_key_0 FROM @examined LIMIT 1001) @row
     WHERE @wanted ORDER BY @row.listed_key_0 DESC, @row.@at DESC, @row.@id DESC LIMIT :rows)

-- fragment: records_page_by_two(row, at, id, examined, wanted, first, second)
-- The same for a scope of two keys.
(
    SELECT * FROM (SELECT @row.*, @first AS listed_key_0, @second AS listed_key_1 FROM @examined LIMIT 1001) @row
     WHERE @wanted ORDER BY @row.listed_key_0 DESC, @row.listed_key_1 DESC, @row.@at DESC, @row.@id DESC LIMIT :rows)

-- fragment: count_up_to(most, rows)
-- Counts at most `most` rows and then stops. `rows` is a query without SELECT, from FROM on.
(SELECT count(*)::int FROM (SELECT @rows LIMIT @most) counted)
