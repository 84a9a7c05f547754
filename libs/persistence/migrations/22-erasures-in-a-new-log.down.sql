DROP TRIGGER log_restarts_move_erased ON log_restarts;
DROP FUNCTION move_erased;
