DROP TRIGGER log_checkpoints_stay ON log_checkpoints;
DROP TRIGGER grants_revocation_time_set ON grants;
DROP TRIGGER grants_time_set ON grants;
DROP TRIGGER grants_stay ON grants;
DROP FUNCTION refuse_checkpoint_change, set_times_of_grant, refuse_grant_change;
