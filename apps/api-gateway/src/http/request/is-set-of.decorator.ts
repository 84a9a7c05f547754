import { ValidateBy } from 'class-validator';

/**
 * An array of distinct `values`, one at least. One check and not `ArrayMinSize`, `ArrayUnique` and `IsIn`, which all run
 * whatever the others say: over the length of an array that fills a body, `ArrayUnique` takes seconds.
 */
export const IsSetOf = (values: readonly unknown[]): PropertyDecorator =>
  ValidateBy({
    name: 'isSetOf',
    validator: {
      validate: (sent: unknown) =>
        Array.isArray(sent) &&
        sent.length >= 1 &&
        sent.length <= values.length &&
        new Set(sent).size === sent.length &&
        sent.every((item) => values.includes(item)),
      defaultMessage: () => `$property must be a non-empty array of distinct values of ${values.join(', ')}`,
    },
  });
