// Written by npm run generate -- sql, from a database that has all migrations.
/** The expected guards, one per line: the name and the definition, as the audit reads it from the catalogue. */
export const EXPECTED_GUARDS = `
constraint PK_8c82d7f526340ab734260ea46be of migrations: PRIMARYKEYid
constraint archive_packs_bytes_check of archive_packs: CHECKbytes>0
constraint archive_packs_object_key of archive_packs: UNIQUEobject_id
constraint archive_packs_pkey of archive_packs: PRIMARYKEYpack_id
constraint archive_packs_state_check of archive_packs: CHECKstate=ANYARRAY['written'::text,'verified'::text,'dropped'::text]
constraint archive_packs_texts_check of archive_packs: CHECKtexts>=0
constraint archive_packs_used of archive_packs: CHECKtexts=0ORstate='verified'::text
constraint archive_progress_pkey of archive_progress: PRIMARYKEYtenant_id
constraint attestation_lists_pkey of attestation_lists: PRIMARYKEYlist_id
constraint attestation_lists_tenant_id_issuer_uri_key of attestation_lists: UNIQUEtenant_id,issuer,uri
constraint attestation_uses_attestation_id_fkey of attestation_uses: FOREIGNKEYattestation_idREFERENCESattestationsattestation_id
constraint attestation_uses_pkey of attestation_uses: PRIMARYKEYsubject_key,attestation_id
constraint attestations_digest_check of attestations: CHECKoctet_lengthdigest=32
constraint attestations_list of attestations: CHECKstatus='none'::text=status_uriISNULLANDstatus_uriISNULL=status_idxISNULL
constraint attestations_pkey of attestations: PRIMARYKEYattestation_id
constraint attestations_status of attestations: CHECKstatus=ANYARRAY['none'::text,'pending'::text,'valid'::text,'suspended'::text,'revoked'::text,'other'::text]
constraint attestations_tenant_id_fkey of attestations: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint audit_places_pkey of audit_places: PRIMARYKEYtenant_id
constraint changed_paths_since_is_one_check of changed_paths_since: CHECKis_one
constraint changed_paths_since_pkey of changed_paths_since: PRIMARYKEYis_one
constraint claimed_types_claimed_type_check of claimed_types: CHECKclaimed_type=ANYARRAY['human'::text,'service_account'::text,'ai_agent'::text]
constraint claimed_types_pkey of claimed_types: PRIMARYKEYprincipal_id
constraint credential_offers_pkey of credential_offers: PRIMARYKEYoffer_id
constraint credential_offers_taken of credential_offers: CHECKtaken_atISNULLORtoken_hashISNOTNULL
constraint credential_offers_tenant_id_fkey of credential_offers: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint credential_offers_token of credential_offers: CHECKtoken_hashISNULL=token_expires_atISNULL
constraint credential_offers_wrong_tx_codes_check of credential_offers: CHECKwrong_tx_codes>=0ANDwrong_tx_codes<=5
constraint credentials_invalid of credentials: CHECKstatus='invalid'::text=invalid_reasonISNOTNULL
constraint credentials_kid_fkey of credentials: FOREIGNKEYkidREFERENCESissuing_keyskid
constraint credentials_list_id_fkey of credentials: FOREIGNKEYlist_idREFERENCESstatus_listslist_id
constraint credentials_pkey of credentials: PRIMARYKEYcredential_id
constraint credentials_place of credentials: UNIQUElist_id,status_idx
constraint credentials_reason of credentials: CHECKinvalid_reason=ANYARRAY['withdrawn'::text,'erased'::text,'key_retired'::text]
constraint credentials_status of credentials: CHECKstatus=ANYARRAY['valid'::text,'superseded'::text,'invalid'::text]
constraint credentials_status_idx_check of credentials: CHECKstatus_idx>=0ANDstatus_idx<=131071
constraint credentials_tenant_id_fkey of credentials: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint deliveries_event_subscription_key of deliveries: UNIQUEevent_id,subscription_id
constraint deliveries_pkey of deliveries: PRIMARYKEYdelivery_id
constraint deliveries_skipped_reason_check of deliveries: CHECKskipped_reason=ANYARRAY['subscription_inactive'::text,'no_grant'::text]
constraint deliveries_status_check of deliveries: CHECKstatus=ANYARRAY['pending'::text,'succeeded'::text,'dead'::text,'skipped'::text]
constraint delivery_attempts_delivery_id_fkey of delivery_attempts: FOREIGNKEYdelivery_idREFERENCESdeliveriesdelivery_idONDELETECASCADE
constraint delivery_attempts_pkey of delivery_attempts: PRIMARYKEYdelivery_id,attempt
constraint disclosures_check of disclosures: CHECKto_version>=from_version
constraint disclosures_from_version_check of disclosures: CHECKfrom_version>=1
constraint disclosures_paths of disclosures: CHECKcardinalitypaths>0
constraint erasures_cancelled of erasures: CHECKstatus='cancelled'::text=cancelled_atISNOTNULLANDcancelled_byISNULL=cancelled_atISNULL
constraint erasures_confirmation_check of erasures: CHECKconfirmation=ANYARRAY['required'::text,'off'::text]
constraint erasures_confirmed_in_time of erasures: CHECKconfirmed_byISNULL=confirmed_atISNULLANDconfirmed_at<=confirm_by
constraint erasures_decided of erasures: CHECKstatus<>'erased'::textORreasonISNULLANDconfirmation='off'::textORconfirmed_byISNOTNULL
constraint erasures_erased of erasures: CHECKstatus='erased'::text=erased_atISNOTNULLANDerased_atISNULL=erased_indexesISNULL
constraint erasures_pkey of erasures: PRIMARYKEYerasure_id
constraint erasures_public_id_key of erasures: UNIQUEpublic_id
constraint erasures_status_check of erasures: CHECKstatus=ANYARRAY['pending'::text,'erased'::text,'cancelled'::text,'expired'::text]
constraint erasures_two_people of erasures: CHECKconfirmed_by<>requested_by
constraint erasures_versions_check of erasures: CHECKcardinalityversions>0
constraint evidence_waiting_pkey of evidence_waiting: PRIMARYKEYwaiting_id
constraint grant_changes_from_scopes_check of grant_changes: CHECKcardinalityfrom_scopes>0
constraint grant_changes_paths of grant_changes: CHECKcardinalitypaths>0ANDcardinalityfrom_paths>0
constraint grant_changes_pkey of grant_changes: PRIMARYKEYgrant_change_id
constraint grant_changes_scopes_check of grant_changes: CHECKcardinalityscopes>0
constraint granted_feeds_pkey of granted_feeds: PRIMARYKEYgrantee_tenant_id,grantor_tenant_id
constraint grants_paths of grants: CHECKcardinalitypaths>0
constraint grants_pkey of grants: PRIMARYKEYgrant_id
constraint grants_scopes_check of grants: CHECKcardinalityscopes>0
constraint idempotency_keys_body_hash_check of idempotency_keys: CHECKoctet_lengthbody_hash=32
constraint idempotency_keys_key_hash_check of idempotency_keys: CHECKoctet_lengthkey_hash=32
constraint idempotency_keys_pkey of idempotency_keys: PRIMARYKEYkey_hash
constraint idempotency_keys_subject_hash_check of idempotency_keys: CHECKoctet_lengthsubject_hash=32
constraint issuing_keys_pkey of issuing_keys: PRIMARYKEYkid
constraint issuing_keys_retired of issuing_keys: CHECKretired_atISNULLORreplaced_atISNOTNULL
constraint issuing_keys_sealed of issuing_keys: CHECKsealedISNULL=replaced_atISNOTNULL
constraint issuing_keys_tenant_id_fkey of issuing_keys: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint limit_overrides_pkey of limit_overrides: PRIMARYKEYscope,scope_id,limit_name
constraint limit_overrides_scope_check of limit_overrides: CHECKscope=ANYARRAY['tenant'::text,'principal'::text]
constraint limit_overrides_value_check of limit_overrides: CHECKvalue>=0
constraint log_backfill_is_one_check of log_backfill: CHECKis_one
constraint log_backfill_pkey of log_backfill: PRIMARYKEYis_one
constraint log_checkpoints_marked of log_checkpoints: CHECKmarked_byISNULL=marked_atISNULL
constraint log_checkpoints_pkey of log_checkpoints: PRIMARYKEYcheckpoint_id
constraint log_copy_is_one_check of log_copy: CHECKis_one
constraint log_copy_pkey of log_copy: PRIMARYKEYis_one
constraint log_entries_announcement of log_entries: CHECKentry_type=8=announcement_idISNOTNULL
constraint log_entries_backfill of log_entries: CHECKentry_type=10=backfill_fromISNOTNULLANDentry_type=10=key_countsISNOTNULL
constraint log_entries_body of log_entries: CHECKbody_hashISNOTNULL=entry_type=1ANDsaltISNULLANDkey_prefixesISNOTNULL
constraint log_entries_check of log_entries: CHECKCASEentry_typeWHEN1THENsubject_keyISNOTNULLANDsnapshot_versionISNOTNULLWHEN2THENgrant_idISNOTNULLWHEN3THENgrant_idISNOTNULLWHEN4THENowner_change_idISNOTNULLELSENULL::booleanEND
constraint log_entries_log_index_check of log_entries: CHECKlog_index>=0
constraint log_entries_map_root of log_entries: CHECKentry_type=9=map_rootISNOTNULLANDmap_rootISNULLORoctet_lengthmap_root=32
constraint log_entries_names_view of log_entries: CHECKnames_viewISNULLORentry_type=1
constraint log_entries_of_batch of log_entries: CHECKentry_type=ANYARRAY[11,12]=record_batch_idISNOTNULL
constraint log_entries_of_changed_grants of log_entries: CHECKentry_type<>5ORgrant_change_idISNOTNULL
constraint log_entries_of_erasure of log_entries: CHECKentry_type<>6ORerasure_idISNOTNULL
constraint log_entries_pkey of log_entries: PRIMARYKEYlog_index
constraint log_entries_restart of log_entries: CHECKentry_type=7=restart_idISNOTNULL
constraint log_entries_salt_check of log_entries: CHECKoctet_lengthsalt=16
constraint log_entries_salted of log_entries: CHECKsaltISNOTNULLORentry_type=ANYARRAY[1,9,10,13]
constraint log_entries_view of log_entries: CHECKentry_type<>14ORsubject_keyISNOTNULLANDsnapshot_versionISNOTNULL
constraint log_feed_is_one_check of log_feed: CHECKis_one
constraint log_feed_pkey of log_feed: PRIMARYKEYis_one
constraint log_key_announcements_ended of log_key_announcements: CHECKended_byISNULL=ended_atISNULL
constraint log_key_announcements_pkey of log_key_announcements: PRIMARYKEYannouncement_id
constraint log_key_announcements_vkey_check of log_key_announcements: CHECKvkey~'^[^+]+[+][0-9a-f]{8}[+].+$'::text
constraint log_keys_pkey of log_keys: PRIMARYKEYvkey
constraint log_policy_is_one_check of log_policy: CHECKis_one
constraint log_policy_pkey of log_policy: PRIMARYKEYis_one
constraint log_restarts_check of log_restarts: CHECKprevious_origin<>origin
constraint log_restarts_origin_key of log_restarts: UNIQUEorigin
constraint log_restarts_pkey of log_restarts: PRIMARYKEYrestart_id
constraint log_restarts_previous_root_check of log_restarts: CHECKoctet_lengthprevious_root=32
constraint log_restarts_previous_size_check of log_restarts: CHECKprevious_size>=0
constraint log_restarts_reason_check of log_restarts: CHECKreason<>''::text
constraint log_tiles_hashes_check of log_tiles: CHECKoctet_lengthhashes%32=0ANDoctet_lengthhashes>=32ANDoctet_lengthhashes<=8192
constraint log_tiles_pkey of log_tiles: PRIMARYKEYlevel,tile_index
constraint log_tree_is_one_check of log_tree: CHECKis_one
constraint log_tree_pkey of log_tree: PRIMARYKEYis_one
constraint log_tree_root_check of log_tree: CHECKoctet_lengthroot=32
constraint log_waiting_pkey of log_waiting: PRIMARYKEYwaiting_id
constraint map_buckets_content_check of map_buckets: CHECKoctet_lengthcontent%37=0
constraint map_buckets_path_check of map_buckets: CHECKoctet_lengthpath>=1ANDoctet_lengthpath<=33
constraint map_buckets_pkey of map_buckets: PRIMARYKEYpath
constraint map_counting_counted_to_check of map_counting: CHECKcounted_to>=0
constraint map_counting_is_one_check of map_counting: CHECKis_one
constraint map_counting_pkey of map_counting: PRIMARYKEYis_one
constraint map_former_pkey of map_former: PRIMARYKEYpath,is_bucket,size
constraint map_state_check of map_state: CHECKbackfilled_to>=0ANDbackfilled_to<=starts_at
constraint map_state_is_one_check of map_state: CHECKis_one
constraint map_state_pkey of map_state: PRIMARYKEYis_one
constraint map_state_root_check of map_state: CHECKoctet_lengthroot=32
constraint map_state_starts_at_check of map_state: CHECKstarts_at>=0ANDstarts_at%256::bigint=0
constraint map_state_vrf_key_check of map_state: CHECKvrf_key~'^VRF[+][A-Za-z0-9+/]{43}=$'::text
constraint map_streams_check of map_streams: CHECKbackfilled>=0ANDbackfilled<=last
constraint map_streams_last_check of map_streams: CHECKlast>0
constraint map_streams_pkey of map_streams: PRIMARYKEYstream
constraint map_tiles_path_check of map_tiles: CHECKoctet_lengthpath>=1ANDoctet_lengthpath<=33
constraint map_tiles_pkey of map_tiles: PRIMARYKEYpath
constraint memberships_api_functional_role_check of memberships: CHECKapi_functional_role=ANYARRAY['tenant_reader'::text,'tenant_proposer'::text,'tenant_editor'::text,'tenant_admin'::text,'tenant_owner'::text]
constraint memberships_pkey of memberships: PRIMARYKEYtenant_id,principal_id
constraint memberships_principal_type_check of memberships: CHECKprincipal_type=ANYARRAY['human'::text,'service_account'::text,'ai_agent'::text]
constraint memberships_status_check of memberships: CHECKstatus=ANYARRAY['pending'::text,'active'::text,'removed'::text]
constraint memberships_tenancy_role_check of memberships: CHECKtenancy_role=ANYARRAY['account_admin'::text,'member'::text]
constraint memberships_tenant_id_fkey of memberships: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint outbox_events_body_check of outbox_events: CHECKbodyISNOTNULLORsnapshot_idISNOTNULLORupdate_idISNOTNULLANDfanned_out_atISNULL
constraint outbox_events_pkey of outbox_events: PRIMARYKEYevent_id
constraint outbox_waiting_pkey of outbox_waiting: PRIMARYKEYwaiting_id
constraint owner_changes_check of owner_changes: CHECKprincipal_idISNOTNULLORfrom_principal_idISNOTNULL
constraint owner_changes_pkey of owner_changes: PRIMARYKEYowner_change_id
constraint pending_grants_cancelled of pending_grants: CHECKcancelled_byISNULL=cancelled_atISNULL
constraint pending_grants_confirmed_in_time of pending_grants: CHECKconfirmed_byISNULL=confirmed_atISNULLANDconfirmed_at<=confirm_by
constraint pending_grants_end_once of pending_grants: CHECKconfirmed_atISNULLORcancelled_atISNULL
constraint pending_grants_paths of pending_grants: CHECKcardinalitypaths>0
constraint pending_grants_pkey of pending_grants: PRIMARYKEYgrant_id
constraint pending_grants_two_people of pending_grants: CHECKconfirmed_by<>requested_by
constraint presentation_requests_attestation_id_fkey of presentation_requests: FOREIGNKEYattestation_idREFERENCESattestationsattestation_id
constraint presentation_requests_pkey of presentation_requests: PRIMARYKEYpresentation_request_id
constraint presentation_requests_received of presentation_requests: CHECKstatus='received'::text=attestation_idISNOTNULL
constraint presentation_requests_sealed of presentation_requests: CHECKstatus='pending'::text=sealedISNOTNULL
constraint presentation_requests_status of presentation_requests: CHECKstatus=ANYARRAY['pending'::text,'received'::text,'refused'::text]
constraint presentation_requests_tenant_id_fkey of presentation_requests: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint presentation_requests_wrong_answers_check of presentation_requests: CHECKwrong_answers>=0ANDwrong_answers<=5
constraint provenance_backfill_is_one_check of provenance_backfill: CHECKis_one
constraint provenance_backfill_pkey of provenance_backfill: PRIMARYKEYis_one
constraint rate_limits_pkey of rate_limits: PRIMARYKEYprincipal_id
constraint record_batches_check of record_batches: CHECKoctet_lengthdigests=4*cardinalityrecord_ids
constraint record_batches_entry_type_check of record_batches: CHECKentry_type=ANYARRAY[11,12]
constraint record_batches_pkey of record_batches: PRIMARYKEYbatch_id
constraint record_batches_record_ids_check of record_batches: CHECKcardinalityrecord_ids>=1ANDcardinalityrecord_ids<=256
constraint records_backfill_entry_type_check of records_backfill: CHECKentry_type=ANYARRAY[11,12]
constraint records_backfill_pkey of records_backfill: PRIMARYKEYentry_type
constraint records_waiting_pkey of records_waiting: PRIMARYKEYwaiting_id
constraint refresh_requests_closed_check of refresh_requests: CHECKstatus=ANYARRAY['declined'::text,'cancelled'::text,'expired'::text]=closed_atISNOTNULL
constraint refresh_requests_origin_type_check of refresh_requests: CHECKorigin_type=ANYARRAY['owner'::text,'counterparty'::text]
constraint refresh_requests_pkey of refresh_requests: PRIMARYKEYrefresh_request_id
constraint refresh_requests_resolved_check of refresh_requests: CHECKstatus='fulfilled'::text=resolved_atISNOTNULLANDresolved_snapshot_idISNOTNULLANDresolved_snapshot_versionISNOTNULL
constraint refresh_requests_series_end_reason_check of refresh_requests: CHECKseries_end_reason=ANYARRAY['cancelled'::text,'access_lost'::text]
constraint refresh_requests_status_check of refresh_requests: CHECKstatus=ANYARRAY['pending'::text,'fulfilled'::text,'declined'::text,'cancelled'::text,'expired'::text]
constraint search_backfill_is_one_check of search_backfill: CHECKis_one
constraint search_backfill_pkey of search_backfill: PRIMARYKEYis_one
constraint shared_feed_pkey of shared_feed: PRIMARYKEYtenant_id,log_index
constraint snapshot_provenance_check of snapshot_provenance: CHECKoriginsISNULL=snapshot_version=1
constraint snapshot_provenance_pkey of snapshot_provenance: PRIMARYKEYsubject_key,snapshot_version
constraint snapshot_views_committed of snapshot_views: CHECKview_secretISNULLORview_hashISNOTNULL
constraint snapshot_views_pkey of snapshot_views: PRIMARYKEYsubject_key,snapshot_version
constraint snapshot_views_view_hash_check of snapshot_views: CHECKoctet_lengthview_hash=32
constraint snapshot_views_view_secret_check of snapshot_views: CHECKoctet_lengthview_secret=32
constraint snapshots_change_kind of snapshots: CHECKchange_kind=ANYARRAY['change'::text,'correction'::text]
constraint snapshots_check of snapshots: CHECKprev_hashISNULLORoctet_lengthprev_hash=32ANDsnapshot_version>1
constraint snapshots_envelope_hash_check of snapshots: CHECKoctet_lengthenvelope_hash=32
constraint snapshots_snapshot_id_key of snapshots: UNIQUEsnapshot_id
constraint snapshots_snapshot_version_check of snapshots: CHECKsnapshot_version>=1
constraint snapshots_text_check of snapshots: CHECKnum_nonnullsenvelope,erasure_id,pack_id=1ANDnum_nonnullspack_id,pack_offset,pack_length,text_bytes=ANYARRAY[0,4]
constraint snapshots_version_key of snapshots: PRIMARYKEYsubject_key,snapshot_version
constraint status_list_waiting_pkey of status_list_waiting: PRIMARYKEYwaiting_id
constraint status_lists_pkey of status_lists: PRIMARYKEYlist_id
constraint status_lists_tenant_id_fkey of status_lists: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint subject_evidence_check of subject_evidence: CHECKhas_missingORhas_carried
constraint subject_evidence_pkey of subject_evidence: PRIMARYKEYsubject_key
constraint subject_identifiers_pkey of subject_identifiers: PRIMARYKEYsubject_key,scheme
constraint subjects_identity_key of subjects: UNIQUEsubject_id,subject_type
constraint subjects_pkey of subjects: PRIMARYKEYsubject_key
constraint subjects_subject_type_check of subjects: CHECKsubject_type=ANYARRAY['individual'::text,'organization'::text,'entity'::text]
constraint tenant_blocks_pkey of tenant_blocks: PRIMARYKEYprincipal_id,tenant_id
constraint tenant_feed_check of tenant_feed: CHECKlog_indexes[cardinalitylog_indexes]=last_index
constraint tenant_feed_pkey of tenant_feed: PRIMARYKEYtenant_id,last_index
constraint tenants_erasure_confirmation_check of tenants: CHECKerasure_confirmation=ANYARRAY['required'::text,'off'::text]
constraint tenants_evidence_policy_check of tenants: CHECKevidence_policy=ANYARRAY['open'::text,'resolved'::text,'fresh'::text]
constraint tenants_grant_confirmation_check of tenants: CHECKgrant_confirmation=ANYARRAY['required'::text,'off'::text]
constraint tenants_pkey of tenants: PRIMARYKEYtenant_id
constraint tenants_slug_key of tenants: UNIQUEslug
constraint transfer_offers_pkey of transfer_offers: PRIMARYKEYoffer_id
constraint transfer_offers_status_check of transfer_offers: CHECKstatus=ANYARRAY['pending'::text,'accepted'::text,'declined'::text,'cancelled'::text,'expired'::text]
constraint transfer_offers_tenant_id_fkey of transfer_offers: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint trusted_issuers_pkey of trusted_issuers: PRIMARYKEYtenant_id,issuer
constraint trusted_issuers_tenant_id_fkey of trusted_issuers: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
constraint updates_change_kind of updates: CHECKchange_kind=ANYARRAY['change'::text,'correction'::text]
constraint updates_erased_check of updates: CHECKpatch_opsISNULL=erasure_idISNOTNULL
constraint updates_pkey of updates: PRIMARYKEYupdate_id
constraint updates_status_check of updates: CHECKstatus=ANYARRAY['proposed'::text,'applied'::text,'withdrawn'::text]
constraint webhook_subscription_types_pkey of webhook_subscription_types: PRIMARYKEYtenant_id,event_type,subscription_idINCLUDEcreated_at
constraint webhook_subscriptions_event_types_check of webhook_subscriptions: CHECKcardinalityevent_types>0
constraint webhook_subscriptions_paths of webhook_subscriptions: CHECKcardinalitypaths>=1ANDcardinalitypaths<=100
constraint webhook_subscriptions_pkey of webhook_subscriptions: PRIMARYKEYsubscription_id
constraint webhook_subscriptions_status_check of webhook_subscriptions: CHECKstatus=ANYARRAY['active'::text,'disabled'::text]
constraint webhook_subscriptions_tenant_id_fkey of webhook_subscriptions: FOREIGNKEYtenant_idREFERENCEStenantstenant_id
function announce_first_log_keys (vkeys text[]): plpgsql as its owner search_path=pg_catalog, pg_temp 68e9bc1905cc1968 for iss_app, iss_worker
function archive_texts (pack uuid, keys bigint[], versions integer[], offsets integer[], lengths integer[], hashes bytea[]): plpgsql as its owner search_path=pg_catalog, pg_temp 0932e405f5dc7126 for iss_app, iss_worker
function audit_attestation (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC 4f100922e074a682 for PUBLIC
function audit_credential (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC 8df355ee60800a6a for PUBLIC
function audit_credential_offer (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC aa31d7cc361972c7 for PUBLIC
function audit_details (old_row jsonb, new_row jsonb, columns text[]): sql search_path=pg_catalog, pg_temp d482e23991401f6c for PUBLIC
function audit_erasure (): plpgsql as its owner search_path=pg_catalog, pg_temp 5f20b856d09a482c for PUBLIC
function audit_grants (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC 0fc19db6e81d41d1 for PUBLIC
function audit_issuing_key (): plpgsql as its owner search_path=pg_catalog, pg_temp 7aa9adb2beb8a181 for PUBLIC
function audit_limit (): plpgsql as its owner search_path=pg_catalog, pg_temp d872ac30c30c4535 for PUBLIC
function audit_member (): plpgsql as its owner search_path=pg_catalog, pg_temp 589e0056fdf0346c for PUBLIC
function audit_pending_grant (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC 8ca6c8d051ae61c8 for PUBLIC
function audit_presentation_request (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC 95105a14b766023b for PUBLIC
function audit_refresh_requests (): plpgsql as its owner search_path=pg_catalog, pg_temp TimeZone=UTC 35994cf09ee4aadd for PUBLIC
function audit_subscription (): plpgsql as its owner search_path=pg_catalog, pg_temp fbdb0dbba78d8333 for PUBLIC
function audit_target_id (target jsonb): plpgsql f9024eede2d54692 for PUBLIC
function audit_tenant (): plpgsql as its owner search_path=pg_catalog, pg_temp 10044cdd50155788 for PUBLIC
function audit_transfer_offer (): plpgsql as its owner search_path=pg_catalog, pg_temp 91495e7f31854872 for PUBLIC
function audit_trusted_issuer (): plpgsql as its owner search_path=pg_catalog, pg_temp e66d4459a4d60037 for PUBLIC
function complete_grant_change (): plpgsql search_path=pg_catalog, pg_temp 94dda1c794113e28 for PUBLIC
function credentials_lock (subject_key bigint): sql a300046769ea12cb for PUBLIC
function effective_time (generated_at text): plpgsql 8633e319af169914 for PUBLIC
function end_offers_of_erased (): plpgsql as its owner search_path=pg_catalog, pg_temp 3e5d3e72ca4990a0 for PUBLIC
function end_offers_of_retired (): plpgsql as its owner search_path=pg_catalog, pg_temp bd346152154fe99d for PUBLIC
function end_pending_changes (): plpgsql search_path=pg_catalog, pg_temp 6bfe77e0897f9474 for PUBLIC
function erase_changed_paths (): plpgsql as its owner search_path=pg_catalog, pg_temp 9014ad18abb0a632 for PUBLIC
function erase_texts (): plpgsql as its owner search_path=pg_catalog, pg_temp 92c4a80cd94e0161 for PUBLIC
function erase_versions (asked bigint): plpgsql as its owner search_path=pg_catalog, pg_temp 9dfdd90964bd5cfe for iss_app, iss_gateway
function erase_views (): plpgsql as its owner search_path=pg_catalog, pg_temp dff1552ab4f59633 for PUBLIC
function forget_granted_feeds (): plpgsql search_path=pg_catalog, pg_temp 1c4f43ef343d3e0a for PUBLIC
function forget_search_terms (): plpgsql as its owner search_path=pg_catalog, pg_temp e1df26d1c8352903 for PUBLIC
function grant_audit_records (was jsonb, became jsonb): sql search_path=pg_catalog, pg_temp 93261bdf5e68df7f for PUBLIC
function grant_needs_confirmation (id uuid, grantor text, grantee text, wanted text[], until timestamp with time zone): sql search_path=pg_catalog, pg_temp 751c5eacebcc3a08 for PUBLIC
function grant_needs_confirmation (id uuid, grantor text, grantee text, wanted text[], until timestamp with time zone, wanted_paths text[], since timestamp with time zone): sql search_path=pg_catalog, pg_temp a48041e4bd4379ec for PUBLIC
function hold_back_changes (): plpgsql search_path=pg_catalog, pg_temp db01a7fa7eb34efd for PUBLIC
function invalidate_erased_credentials (): plpgsql as its owner search_path=pg_catalog, pg_temp 9d8b79c11157c6ef for PUBLIC
function is_erased_by_now (key bigint, version integer): plpgsql search_path=pg_catalog, pg_temp 113ae7e459a4365b for PUBLIC
function is_erased_since (key bigint, moment timestamp with time zone): plpgsql search_path=pg_catalog, pg_temp 75f59f8688ee8291 for PUBLIC
function is_grant_narrowed (was_scopes text[], scopes text[], was_until timestamp with time zone, until timestamp with time zone, was_paths text[], paths text[], was_since timestamp with time zone, since timestamp with time zone): sql search_path=pg_catalog, pg_temp 76b45b7b8e792cad for PUBLIC
function keep_subscription_types (): plpgsql as its owner search_path=public, pg_temp 0f34d4521c42d8a7 for PUBLIC
function keyed_version_text (entry log_entries): sql search_path=pg_catalog, pg_temp 3c3c3b6fc681da1f for PUBLIC
function map_records_missing (records bytea, others bytea): plpgsql search_path=pg_catalog, pg_temp 4de4ca0f33305cfe for PUBLIC
function mark_audit_records (): plpgsql as its owner search_path=pg_catalog, pg_temp 8896ba5deb84aed7 for PUBLIC
function mark_disclosures (): plpgsql as its owner search_path=pg_catalog, pg_temp 81d8950c1f197d5f for PUBLIC
function mark_erasure (): plpgsql as its owner search_path=pg_catalog, pg_temp c41136fb9f177411 for PUBLIC
function mark_grant (): plpgsql as its owner search_path=pg_catalog, pg_temp feceb122ace19aa6 for PUBLIC
function mark_grant_change (): plpgsql as its owner search_path=pg_catalog, pg_temp 6e6afe9f879926b6 for PUBLIC
function mark_grant_for_outbox (): plpgsql as its owner search_path=pg_catalog, pg_temp 772b9699d275ea4d for PUBLIC
function mark_key_announcement (): plpgsql as its owner search_path=pg_catalog, pg_temp 281b9740fa7bd3fc for PUBLIC
function mark_new_snapshots (): plpgsql as its owner search_path=pg_catalog, pg_temp 1555e948ba684a55 for PUBLIC
function mark_owner_change (): plpgsql as its owner search_path=pg_catalog, pg_temp ffe5ed21dd8df19f for PUBLIC
function mark_record_batch (): plpgsql as its owner search_path=pg_catalog, pg_temp 3d46824a482d1248 for PUBLIC
function mark_sealed_snapshots (): plpgsql as its owner search_path=pg_catalog, pg_temp 96d974d9725e5c0a for PUBLIC
function mark_shared_snapshots (): plpgsql as its owner search_path=pg_catalog, pg_temp enable_seqscan=off 7261f6a18f8736c1 for PUBLIC
function mark_status_list (): plpgsql as its owner search_path=pg_catalog, pg_temp 197249ecb523151b for PUBLIC
function mark_views (): plpgsql as its owner search_path=pg_catalog, pg_temp fefa59b8c16e2355 for PUBLIC
function move_erased (): plpgsql search_path=pg_catalog, pg_temp d6460757f1952fd2 for PUBLIC
function name_refresh_request_owner (): plpgsql search_path=public, pg_temp 9af6e1ed87719f6e for PUBLIC
function next_recurrence (began timestamp with time zone, every text, after timestamp with time zone): sql search_path=pg_catalog, pg_temp 38a9152ca1bba799 for PUBLIC
function note_attestation_uses (): plpgsql as its owner search_path=pg_catalog, pg_temp d27c10719d7fc81f for PUBLIC
function note_revocation (): plpgsql as its owner search_path=pg_catalog, pg_temp ad231149945b1e94 for PUBLIC
function order_erased_versions (): plpgsql search_path=pg_catalog, pg_temp 7a51d7056bfe194b for PUBLIC
function paths_cover (paths text[], pointer text): sql search_path=pg_catalog, pg_temp df5cb45c2a3832ff for PUBLIC
function paths_hash (paths text[]): sql search_path=pg_catalog, pg_temp 7ce74a3acafcaa2c for PUBLIC
function paths_touch (one text[], other text[]): sql search_path=pg_catalog, pg_temp e7c8f299547dbe01 for PUBLIC
function paths_within (inner_paths text[], outer_paths text[]): sql search_path=pg_catalog, pg_temp 4438150296282c90 for PUBLIC
function plan_next_refresh_request (): plpgsql search_path=public, pg_temp bd0c2dd86ea12bbd for PUBLIC
function record_owner_change (): plpgsql as its owner search_path=pg_catalog, pg_temp 0ddea8b0eeab1ed8 for PUBLIC
function refresh_request_audit_records (was jsonb, became jsonb): sql search_path=pg_catalog, pg_temp 9d5ec44da2546b53 for PUBLIC
function refuse_announcement_change (): plpgsql search_path=pg_catalog, pg_temp fbf077593c39e857 for PUBLIC
function refuse_attestation_change (): plpgsql search_path=pg_catalog, pg_temp 73ecbe5fc8d3073c for PUBLIC
function refuse_change_but_erased_text (): plpgsql search_path=pg_catalog, pg_temp 909a7d436d1460a7 for PUBLIC
function refuse_checkpoint_change (): plpgsql search_path=pg_catalog, pg_temp 7f950856c6bc5c44 for PUBLIC
function refuse_credential_change (): plpgsql search_path=pg_catalog, pg_temp 3f14a23361c832ff for PUBLIC
function refuse_entry_change (): plpgsql search_path=pg_catalog, pg_temp c9d7067f1e829794 for PUBLIC
function refuse_erasure_change (): plpgsql search_path=pg_catalog, pg_temp 3ebb3889ff967d13 for PUBLIC
function refuse_grant_change (): plpgsql search_path=pg_catalog, pg_temp f572576c9bd7bbc2 for PUBLIC
function refuse_issuing_key_change (): plpgsql search_path=pg_catalog, pg_temp 95b38c33f3f9c8f8 for PUBLIC
function refuse_key_removal (): plpgsql search_path=pg_catalog, pg_temp 43ed88df3b3f2bd7 for PUBLIC
function refuse_log_change (): plpgsql a0422a64b3337e1a for PUBLIC
function refuse_map_change (): plpgsql search_path=pg_catalog, pg_temp 9e676a1e19473aa8 for PUBLIC
function refuse_offer_change (): plpgsql search_path=pg_catalog, pg_temp ee1544bc88b17fa4 for PUBLIC
function refuse_pack_change (): plpgsql search_path=pg_catalog, pg_temp 35564bb28d1f3816 for PUBLIC
function refuse_pending_grant_change (): plpgsql search_path=pg_catalog, pg_temp 9e969ba88eb48778 for PUBLIC
function refuse_presentation_request_change (): plpgsql search_path=pg_catalog, pg_temp 5ea825ca75229bea for PUBLIC
function refuse_provenance_change (): plpgsql search_path=pg_catalog, pg_temp 3b7c65750190f6b1 for PUBLIC
function refuse_record_change (): plpgsql fbca8d67e11432d1 for PUBLIC
function refuse_snapshot_change (): plpgsql search_path=public, pg_temp 335f8d36387f5446 for PUBLIC
function refuse_status_list_change (): plpgsql search_path=pg_catalog, pg_temp b2c07567fc16c0ec for PUBLIC
function refuse_truncate (): plpgsql search_path=pg_catalog, pg_temp ebb097b870730432 for PUBLIC
function refuse_view_change (): plpgsql search_path=pg_catalog, pg_temp 04d20cf6a1a9d361 for PUBLIC
function renew_status_lists (): plpgsql as its owner search_path=pg_catalog, pg_temp c913cb5cab3d2818 for PUBLIC
function require_confirmed_grant (): plpgsql search_path=pg_catalog, pg_temp aadc171246184142 for PUBLIC
function restart_log (new_origin text, former_origin text, former_size bigint, former_root bytea, checkpoint text, why text): plpgsql search_path=public, pg_temp 8f716ee06db3ea0e
function restore_texts (keys bigint[], versions integer[], texts text[]): plpgsql as its owner search_path=pg_catalog, pg_temp be3fee926e378fe8
function set_time_of_snapshot (): plpgsql search_path=pg_catalog, pg_temp 9121256fb3a89a53 for PUBLIC
function set_times_of_grant (): plpgsql search_path=pg_catalog, pg_temp d0ba9ad4b8782745 for PUBLIC
function setting_in_effect (stored text, pending jsonb): sql search_path=pg_catalog, pg_temp 182c9693de7a19b6 for PUBLIC
function share_attestation_list (): plpgsql as its owner search_path=pg_catalog, pg_temp 5118a6c1afdd809f for PUBLIC
function supersede_credentials (): plpgsql as its owner search_path=pg_catalog, pg_temp enable_seqscan=off 5d49b7a4792017fb for PUBLIC
function take_erasure_setting (): plpgsql search_path=pg_catalog, pg_temp ac5a8bd29d3b73db for PUBLIC
function write_audit_record (tenant_id text, action text, target jsonb, details jsonb): plpgsql search_path=pg_catalog, pg_temp 25905d07197e2278
migration AppendOnly1700000000036: applied
migration Archive1700000000063: applied
migration Attestations1700000000061: applied
migration AuditOfGrantees1700000000044: applied
migration AuditOfRefreshRequests1700000000054: applied
migration AuditPlaces1700000000033: applied
migration AuditTrail1700000000024: applied
migration BodiesBuiltOnce1700000000004: applied
migration CallersBounded1700000000006: applied
migration CapsCounted1700000000008: applied
migration ChangeFeed1700000000017: applied
migration ChangeKind1700000000057: applied
migration ChangedPaths1700000000058: applied
migration ClaimedTypes1700000000005: applied
migration Consent1700000000032: applied
migration CredentialOffers1700000000067: applied
migration Credentials1700000000060: applied
migration Disclosures1700000000018: applied
migration DisplayNames1700000000047: applied
migration ErasedTexts1700000000045: applied
migration Erasure1700000000019: applied
migration ErasuresBesideWriters1700000000069: applied
migration ErasuresInANewLog1700000000022: applied
migration ErasuresNameVersions1700000000041: applied
migration EventsBesideTheLog1700000000048: applied
migration EventsForGrantees1700000000027: applied
migration FactsStay1700000000035: applied
migration FairStatusLists1700000000066: applied
migration Filters1700000000040: applied
migration GrantedFeeds1700000000030: applied
migration GrantsAccepted1700000000037: applied
migration GrantsByGrantee1700000000009: applied
migration GrantsChanged1700000000016: applied
migration GrantsOfPaths1700000000055: applied
migration IdentifiersByValue1700000000052: applied
migration Inbox1700000000020: applied
migration InitialSchema1700000000001: applied
migration IssuingKeys1700000000059: applied
migration LeanIndexes1700000000003: applied
migration LogBackfill1700000000013: applied
migration LogCopy1700000000065: applied
migration LogKeys1700000000029: applied
migration LogPolicy1700000000012: applied
migration LogRestarts1700000000021: applied
migration Map1700000000049: applied
migration MapInPlace1700000000053: applied
migration MoreFilters1700000000043: applied
migration PendingChanges1700000000039: applied
migration PendingGrants1700000000046: applied
migration PresentationRequests1700000000068: applied
migration Provenance1700000000015: applied
migration ProvenanceBackfill1700000000028: applied
migration ProvenanceStays1700000000064: applied
migration RecordsInTheLog1700000000050: applied
migration RecurringRefreshRequests1700000000042: applied
migration RefreshRequestInbox1700000000026: applied
migration RefreshRequestsExpire1700000000038: applied
migration SearchTerms1700000000023: applied
migration SnapshotViews1700000000056: applied
migration SubscriptionsByType1700000000007: applied
migration TimeOfVersions1700000000014: applied
migration TimesOfTheLog1700000000034: applied
migration TransparencyLog1700000000010: applied
migration WholeInterface1700000000002: applied
migration Writers1700000000031: applied
policy snapshots_read of snapshots: permissive r iss_app,iss_gateway,iss_worker using true
policy snapshots_sealed of snapshots: permissive a iss_app,iss_gateway check envelope_hash=sha256convert_toenvelope,'UTF8'::name
privileges of iss_app, iss_worker on archive_packs: DELETE, INSERT (bytes, object_id), SELECT, UPDATE (changed_at, state)
privileges of iss_app, iss_worker on archive_progress: INSERT, SELECT, UPDATE
privileges of iss_app on attestation_lists: INSERT (due_at, issuer, tenant_id, uri), SELECT, UPDATE (asked_at, due_at, failures, issued_at, problem)
privileges of iss_app, iss_gateway, iss_worker on attestation_uses: SELECT
privileges of iss_app on attestations: INSERT, SELECT, UPDATE (status, status_at)
privileges of iss_app, iss_gateway, iss_worker on audit_places: none
privileges of iss_app, iss_gateway, iss_worker on audit_records: SELECT
privileges of iss_app, iss_gateway, iss_worker on changed_paths_since: none
privileges of iss_app, iss_gateway on claimed_types: INSERT, SELECT, UPDATE
privileges of iss_app on credential_offers: DELETE, INSERT, SELECT, UPDATE (taken_at, token_expires_at, token_hash, wrong_tx_codes)
privileges of iss_app, iss_gateway on credentials: INSERT, SELECT, UPDATE (invalid_reason, status, status_at)
privileges of iss_app, iss_worker on deliveries: DELETE, INSERT, SELECT, UPDATE
privileges of iss_app, iss_worker on delivery_attempts: DELETE, INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway on disclosures: INSERT, SELECT
privileges of iss_app, iss_gateway on erasures: INSERT (public_id, reason, reference, requested_by, subject_key, tenant_id, versions), SELECT, UPDATE (cancelled_at, cancelled_by, confirmed_at, confirmed_by, reason, status)
privileges of iss_app, iss_worker on evidence_waiting: DELETE, SELECT, UPDATE (revoked_at)
privileges of iss_app, iss_gateway on grant_changes: INSERT, SELECT
privileges of iss_app, iss_worker on granted_feeds: INSERT, SELECT, UPDATE (next_index, turn, until_index)
privileges of iss_app on grants: INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway on idempotency_keys: DELETE, INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway on issuing_keys: INSERT, SELECT, UPDATE (replaced_at, retired_at, sealed)
privileges of iss_app, iss_gateway, iss_worker on limit_overrides: SELECT
privileges of iss_app, iss_gateway, iss_worker on log_backfill: SELECT
privileges of iss_app, iss_worker on log_checkpoints: DELETE, INSERT, SELECT
privileges of iss_app, iss_worker on log_copy: SELECT, UPDATE
privileges of iss_app, iss_worker on log_entries: INSERT, SELECT
privileges of iss_app, iss_worker on log_feed: SELECT, UPDATE (granted_size, size)
privileges of iss_app, iss_gateway, iss_worker on log_key_announcements: SELECT
privileges of iss_app, iss_worker on log_keys: INSERT, SELECT, UPDATE (until_at)
privileges of iss_app, iss_worker on log_policy: DELETE, INSERT, SELECT, UPDATE (policy)
privileges of iss_app, iss_gateway, iss_worker on log_restarts: SELECT
privileges of iss_app, iss_worker on log_tiles: INSERT, SELECT, UPDATE (hashes)
privileges of iss_app, iss_worker on log_tree: SELECT, UPDATE (root, size)
privileges of iss_app, iss_worker on log_waiting: DELETE, SELECT
privileges of iss_app, iss_worker on map_buckets: DELETE, INSERT, SELECT, UPDATE (content)
privileges of iss_app, iss_worker on map_counting: DELETE, INSERT, SELECT, UPDATE (counted_to)
privileges of iss_app, iss_worker on map_former: DELETE, INSERT, SELECT
privileges of iss_app, iss_worker on map_state: INSERT, SELECT, UPDATE (backfilled_to, key_count, root, root_size)
privileges of iss_app, iss_worker on map_streams: INSERT, SELECT, UPDATE (backfilled, last)
privileges of iss_app, iss_worker on map_tiles: INSERT, SELECT, UPDATE (content)
privileges of iss_app, iss_gateway on memberships: INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway, iss_worker on migrations: SELECT
privileges of iss_app, iss_worker on outbox_events: DELETE, INSERT, SELECT, UPDATE
privileges of iss_app, iss_worker on outbox_waiting: DELETE, SELECT, UPDATE (waiting_id)
privileges of iss_app, iss_gateway, iss_worker on owner_changes: SELECT
privileges of iss_app, iss_gateway on pending_grants: INSERT (expires_at, grant_id, grantee_tenant_id, grantor_tenant_id, paths, purpose, requested_by, scopes, starts_at), SELECT, UPDATE (cancelled_at, cancelled_by, confirmed_at, confirmed_by)
privileges of iss_app on presentation_requests: DELETE, INSERT, SELECT, UPDATE (attestation_id, problem, sealed, status, wrong_answers)
privileges of iss_app, iss_worker on provenance_backfill: SELECT
privileges of iss_app, iss_gateway on rate_limits: DELETE, INSERT, SELECT, UPDATE
privileges of iss_app, iss_worker on record_batches: INSERT, SELECT
privileges of iss_app, iss_gateway, iss_worker on records_backfill: SELECT
privileges of iss_app, iss_worker on records_waiting: DELETE, SELECT
privileges of iss_app, iss_gateway on refresh_requests: INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway, iss_worker on search_backfill: none
privileges of iss_app, iss_worker on shared_feed: INSERT, SELECT
privileges of iss_app, iss_gateway on snapshot_provenance: INSERT, SELECT
privileges of iss_app, iss_gateway, iss_worker on snapshot_views: INSERT, SELECT
privileges of iss_app, iss_gateway on snapshots: INSERT, SELECT
privileges of iss_app, iss_worker on status_list_waiting: DELETE, SELECT, UPDATE (marked_at)
privileges of iss_app on status_lists: INSERT, SELECT, UPDATE (due_at, signed_at, token, used)
privileges of iss_app, iss_gateway on subject_evidence: DELETE, INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway on subject_identifiers: DELETE, INSERT, SELECT, UPDATE (path, value)
privileges of iss_app, iss_gateway on subjects: INSERT, SELECT, UPDATE (display_name, name, name_path)
privileges of iss_app, iss_gateway on tenant_blocks: DELETE, INSERT, SELECT
privileges of iss_app, iss_worker on tenant_feed: INSERT, SELECT
privileges of iss_app, iss_gateway on tenants: INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway on transfer_offers: INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway on trusted_issuers: DELETE, INSERT, SELECT, UPDATE (keys, roots, updated_at, vcts)
privileges of iss_app, iss_gateway on updates: INSERT, SELECT, UPDATE
privileges of iss_app, iss_gateway, iss_worker on webhook_subscription_types: SELECT
privileges of iss_app, iss_gateway on webhook_subscriptions: INSERT, SELECT, UPDATE
privileges of iss_gateway on archive_packs: SELECT
privileges of iss_gateway on archive_progress: none
privileges of iss_gateway on attestation_lists: INSERT (due_at, issuer, tenant_id, uri), SELECT, UPDATE (due_at)
privileges of iss_gateway on attestations: INSERT, SELECT
privileges of iss_gateway on credential_offers: INSERT, SELECT, UPDATE (taken_at, token_expires_at, token_hash, wrong_tx_codes)
privileges of iss_gateway on deliveries: INSERT, SELECT, UPDATE
privileges of iss_gateway on delivery_attempts: SELECT
privileges of iss_gateway on evidence_waiting: SELECT
privileges of iss_gateway on granted_feeds: SELECT
privileges of iss_gateway on grants: INSERT, SELECT, UPDATE (accepted_at, expires_at, is_feed_due, paths, purpose, revoked_at, scopes, starts_at)
privileges of iss_gateway on log_checkpoints: SELECT
privileges of iss_gateway on log_copy: none
privileges of iss_gateway on log_entries: SELECT
privileges of iss_gateway on log_feed: SELECT
privileges of iss_gateway on log_keys: SELECT
privileges of iss_gateway on log_policy: SELECT
privileges of iss_gateway on log_tiles: SELECT
privileges of iss_gateway on log_tree: SELECT
privileges of iss_gateway on log_waiting: SELECT
privileges of iss_gateway on map_buckets: SELECT
privileges of iss_gateway on map_counting: SELECT
privileges of iss_gateway on map_former: SELECT
privileges of iss_gateway on map_state: SELECT
privileges of iss_gateway on map_streams: SELECT
privileges of iss_gateway on map_tiles: SELECT
privileges of iss_gateway on outbox_events: INSERT, SELECT
privileges of iss_gateway on outbox_waiting: SELECT
privileges of iss_gateway on presentation_requests: INSERT, SELECT, UPDATE (attestation_id, problem, sealed, status, wrong_answers)
privileges of iss_gateway on provenance_backfill: none
privileges of iss_gateway on record_batches: SELECT
privileges of iss_gateway on records_waiting: SELECT
privileges of iss_gateway on shared_feed: SELECT
privileges of iss_gateway on status_list_waiting: SELECT
privileges of iss_gateway on status_lists: INSERT, SELECT, UPDATE (due_at, used)
privileges of iss_gateway on tenant_feed: SELECT
privileges of iss_worker on attestation_lists: SELECT, UPDATE (asked_at, due_at, failures, issued_at, problem)
privileges of iss_worker on attestations: SELECT, UPDATE (status, status_at)
privileges of iss_worker on claimed_types: SELECT
privileges of iss_worker on credential_offers: DELETE, SELECT, UPDATE (taken_at)
privileges of iss_worker on credentials: SELECT
privileges of iss_worker on disclosures: SELECT
privileges of iss_worker on erasures: SELECT
privileges of iss_worker on grant_changes: SELECT
privileges of iss_worker on grants: SELECT, UPDATE (expired_told_for, expiring_told_for, is_feed_due, started_told_for)
privileges of iss_worker on idempotency_keys: DELETE, SELECT, UPDATE (started_at)
privileges of iss_worker on issuing_keys: SELECT
privileges of iss_worker on memberships: SELECT
privileges of iss_worker on pending_grants: SELECT
privileges of iss_worker on presentation_requests: DELETE, SELECT, UPDATE (status)
privileges of iss_worker on rate_limits: DELETE, SELECT, UPDATE (window_start)
privileges of iss_worker on refresh_requests: INSERT, SELECT, UPDATE (closed_at, next_at, next_request_id, overdue_told_at, series_end_reason, status)
privileges of iss_worker on snapshot_provenance: SELECT
privileges of iss_worker on snapshots: SELECT
privileges of iss_worker on status_lists: SELECT, UPDATE (due_at, signed_at, token)
privileges of iss_worker on subject_evidence: SELECT
privileges of iss_worker on subject_identifiers: none
privileges of iss_worker on subjects: SELECT
privileges of iss_worker on tenant_blocks: none
privileges of iss_worker on tenants: SELECT
privileges of iss_worker on transfer_offers: SELECT
privileges of iss_worker on trusted_issuers: SELECT
privileges of iss_worker on updates: SELECT
privileges of iss_worker on webhook_subscriptions: SELECT, UPDATE
role iss_app: exists
role iss_gateway: exists
role iss_worker: exists
row level security of snapshots: on
trigger archive_packs_not_truncated of archive_packs: CREATETRIGGERarchive_packs_not_truncatedBEFORETRUNCATEONarchive_packsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger archive_packs_stay of archive_packs: CREATETRIGGERarchive_packs_stayBEFOREDELETEORUPDATEONarchive_packsFOREACHROWEXECUTEFUNCTIONrefuse_pack_change
trigger attestation_lists_shared of attestation_lists: CREATETRIGGERattestation_lists_sharedBEFOREINSERTORUPDATEONattestation_listsFOREACHROWWHENnew.share=''::textEXECUTEFUNCTIONshare_attestation_list
trigger attestations_audited of attestations: CREATETRIGGERattestations_auditedAFTERINSERTONattestationsFOREACHROWEXECUTEFUNCTIONaudit_attestation
trigger attestations_immutable of attestations: CREATETRIGGERattestations_immutableBEFOREUPDATEONattestationsFOREACHROWWHENto_jsonbold.*-'status'::text-'status_at'::text<>to_jsonbnew.*-'status'::text-'status_at'::textORold.status='revoked'::textEXECUTEFUNCTIONrefuse_attestation_change
trigger attestations_kept of attestations: CREATETRIGGERattestations_keptBEFOREDELETEONattestationsFOREACHROWEXECUTEFUNCTIONrefuse_attestation_change
trigger attestations_not_truncated of attestations: CREATETRIGGERattestations_not_truncatedBEFORETRUNCATEONattestationsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_attestation_change
trigger attestations_revoked of attestations: CREATETRIGGERattestations_revokedAFTERUPDATEONattestationsFOREACHROWWHENold.status<>'revoked'::textANDnew.status='revoked'::textEXECUTEFUNCTIONnote_revocation
trigger audit_records_immutable of audit_records: CREATETRIGGERaudit_records_immutableBEFOREDELETEORUPDATEONaudit_recordsFOREACHROWEXECUTEFUNCTIONrefuse_change_but_erased_text
trigger audit_records_logged of audit_records: CREATETRIGGERaudit_records_loggedAFTERINSERTONaudit_recordsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONmark_audit_records
trigger audit_records_not_truncated of audit_records: CREATETRIGGERaudit_records_not_truncatedBEFORETRUNCATEONaudit_recordsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_record_change
trigger changed_paths_since_not_truncated of changed_paths_since: CREATETRIGGERchanged_paths_since_not_truncatedBEFORETRUNCATEONchanged_paths_sinceFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger changed_paths_since_stays of changed_paths_since: CREATETRIGGERchanged_paths_since_staysBEFOREDELETEORUPDATEONchanged_paths_sinceFOREACHROWEXECUTEFUNCTIONrefuse_log_change
trigger credential_offers_audited of credential_offers: CREATETRIGGERcredential_offers_auditedAFTERINSERTONcredential_offersFOREACHROWEXECUTEFUNCTIONaudit_credential_offer
trigger credential_offers_immutable of credential_offers: CREATETRIGGERcredential_offers_immutableBEFOREUPDATEONcredential_offersFOREACHROWWHENto_jsonbold.*-'{token_hash,token_expires_at,wrong_tx_codes,taken_at}'::text[]<>to_jsonbnew.*-'{token_hash,token_expires_at,wrong_tx_codes,taken_at}'::text[]ORold.token_hash<>new.token_hashORold.token_expires_at<>new.token_expires_atORold.token_hashISNOTNULLANDnew.token_hashISNULLORnew.wrong_tx_codes<old.wrong_tx_codesORold.taken_atISNOTNULLEXECUTEFUNCTIONrefuse_offer_change
trigger credentials_changed_marked of credentials: CREATETRIGGERcredentials_changed_markedAFTERUPDATEONcredentialsFOREACHROWWHENnew.status<>old.statusEXECUTEFUNCTIONmark_status_list
trigger credentials_immutable of credentials: CREATETRIGGERcredentials_immutableBEFOREUPDATEONcredentialsFOREACHROWWHENto_jsonbold.*-'{status,status_at,invalid_reason}'::text[]<>to_jsonbnew.*-'{status,status_at,invalid_reason}'::text[]ORold.status='invalid'::textORold.status='superseded'::textANDnew.status='valid'::textEXECUTEFUNCTIONrefuse_credential_change
trigger credentials_issued_audited of credentials: CREATETRIGGERcredentials_issued_auditedAFTERINSERTONcredentialsFOREACHROWEXECUTEFUNCTIONaudit_credential
trigger credentials_kept of credentials: CREATETRIGGERcredentials_keptBEFOREDELETEONcredentialsFOREACHROWEXECUTEFUNCTIONrefuse_credential_change
trigger credentials_made_marked of credentials: CREATETRIGGERcredentials_made_markedAFTERINSERTONcredentialsFOREACHROWWHENnew.status<>'valid'::textEXECUTEFUNCTIONmark_status_list
trigger credentials_not_truncated of credentials: CREATETRIGGERcredentials_not_truncatedBEFORETRUNCATEONcredentialsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger credentials_withdrawn_audited of credentials: CREATETRIGGERcredentials_withdrawn_auditedAFTERUPDATEONcredentialsFOREACHROWWHENnew.invalid_reason='withdrawn'::textANDold.invalid_reasonISNULLEXECUTEFUNCTIONaudit_credential
trigger disclosures_immutable of disclosures: CREATETRIGGERdisclosures_immutableBEFOREDELETEORUPDATEONdisclosuresFOREACHROWEXECUTEFUNCTIONrefuse_record_change
trigger disclosures_logged of disclosures: CREATETRIGGERdisclosures_loggedAFTERINSERTONdisclosuresREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONmark_disclosures
trigger disclosures_not_truncated of disclosures: CREATETRIGGERdisclosures_not_truncatedBEFORETRUNCATEONdisclosuresFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_record_change
trigger erasures_changed_paths_erased of erasures: CREATETRIGGERerasures_changed_paths_erasedAFTERUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDold.status<>'erased'::textEXECUTEFUNCTIONerase_changed_paths
trigger erasures_credentials_invalid of erasures: CREATETRIGGERerasures_credentials_invalidAFTERUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDold.status<>'erased'::textEXECUTEFUNCTIONinvalidate_erased_credentials
trigger erasures_logged of erasures: CREATETRIGGERerasures_loggedAFTERUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDold.status<>'erased'::textEXECUTEFUNCTIONmark_erasure
trigger erasures_made_audited of erasures: CREATETRIGGERerasures_made_auditedAFTERINSERTONerasuresFOREACHROWEXECUTEFUNCTIONaudit_erasure
trigger erasures_moved_audited of erasures: CREATETRIGGERerasures_moved_auditedAFTERUPDATEONerasuresFOREACHROWWHENold.status='pending'::textANDnew.status=ANYARRAY['erased'::text,'cancelled'::text]ORold.confirmed_byISDISTINCTFROMnew.confirmed_byEXECUTEFUNCTIONaudit_erasure
trigger erasures_not_truncated of erasures: CREATETRIGGERerasures_not_truncatedBEFORETRUNCATEONerasuresFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger erasures_offers_end of erasures: CREATETRIGGERerasures_offers_endAFTERUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDold.status<>'erased'::textEXECUTEFUNCTIONend_offers_of_erased
trigger erasures_setting of erasures: CREATETRIGGERerasures_settingBEFOREINSERTONerasuresFOREACHROWEXECUTEFUNCTIONtake_erasure_setting
trigger erasures_stay of erasures: CREATETRIGGERerasures_stayBEFOREDELETEORUPDATEONerasuresFOREACHROWEXECUTEFUNCTIONrefuse_erasure_change
trigger erasures_texts_erased of erasures: CREATETRIGGERerasures_texts_erasedAFTERUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDold.status<>'erased'::textEXECUTEFUNCTIONerase_texts
trigger erasures_versions_ordered of erasures: CREATETRIGGERerasures_versions_orderedBEFOREUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDnew.logged_versionsISNULLEXECUTEFUNCTIONorder_erased_versions
trigger erasures_views_erased of erasures: CREATETRIGGERerasures_views_erasedAFTERUPDATEONerasuresFOREACHROWWHENnew.status='erased'::textANDold.status<>'erased'::textEXECUTEFUNCTIONerase_views
trigger grant_changes_announced of grant_changes: CREATETRIGGERgrant_changes_announcedAFTERINSERTONgrant_changesFOREACHROWEXECUTEFUNCTIONmark_grant_for_outbox
trigger grant_changes_completed of grant_changes: CREATETRIGGERgrant_changes_completedBEFOREINSERTONgrant_changesFOREACHROWWHENnew.pathsISNULLANDnew.from_pathsISNULLANDnew.starts_atISNULLANDnew.from_starts_atISNULLEXECUTEFUNCTIONcomplete_grant_change
trigger grant_changes_immutable of grant_changes: CREATETRIGGERgrant_changes_immutableBEFOREDELETEORUPDATEONgrant_changesFOREACHROWEXECUTEFUNCTIONrefuse_change_but_erased_text
trigger grant_changes_logged of grant_changes: CREATETRIGGERgrant_changes_loggedAFTERINSERTONgrant_changesFOREACHROWEXECUTEFUNCTIONmark_grant_change
trigger grant_changes_not_truncated of grant_changes: CREATETRIGGERgrant_changes_not_truncatedBEFORETRUNCATEONgrant_changesFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger grants_announced of grants: CREATETRIGGERgrants_announcedAFTERINSERTONgrantsFOREACHROWEXECUTEFUNCTIONmark_grant_for_outbox
trigger grants_changed_audited of grants: CREATETRIGGERgrants_changed_auditedAFTERUPDATEONgrantsREFERENCINGOLDTABLEASold_rowsNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONaudit_grants
trigger grants_logged of grants: CREATETRIGGERgrants_loggedAFTERINSERTONgrantsFOREACHROWEXECUTEFUNCTIONmark_grant
trigger grants_made_audited of grants: CREATETRIGGERgrants_made_auditedAFTERINSERTONgrantsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONaudit_grants
trigger grants_not_truncated of grants: CREATETRIGGERgrants_not_truncatedBEFORETRUNCATEONgrantsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger grants_revocation_time_set of grants: CREATETRIGGERgrants_revocation_time_setBEFOREUPDATEONgrantsFOREACHROWWHENold.revoked_atISNULLANDnew.revoked_atISNOTNULLEXECUTEFUNCTIONset_times_of_grant
trigger grants_revoked_announced of grants: CREATETRIGGERgrants_revoked_announcedAFTERUPDATEONgrantsFOREACHROWWHENold.revoked_atISNULLANDnew.revoked_atISNOTNULLEXECUTEFUNCTIONmark_grant_for_outbox
trigger grants_revoked_logged of grants: CREATETRIGGERgrants_revoked_loggedAFTERUPDATEONgrantsFOREACHROWWHENold.revoked_atISNULLANDnew.revoked_atISNOTNULLEXECUTEFUNCTIONmark_grant
trigger grants_stay of grants: CREATETRIGGERgrants_stayBEFOREDELETEORUPDATEONgrantsFOREACHROWEXECUTEFUNCTIONrefuse_grant_change
trigger grants_time_set of grants: CREATETRIGGERgrants_time_setBEFOREINSERTONgrantsFOREACHROWWHENnew.created_atISDISTINCTFROMnowEXECUTEFUNCTIONset_times_of_grant
trigger grants_to_all_made of grants: CREATETRIGGERgrants_to_all_madeBEFOREINSERTONgrantsFOREACHROWWHENnew.subject_key=0EXECUTEFUNCTIONrequire_confirmed_grant
trigger grants_to_all_widened of grants: CREATETRIGGERgrants_to_all_widenedBEFOREUPDATEOFscopes,expires_at,paths,starts_atONgrantsFOREACHROWWHENnew.subject_key=0EXECUTEFUNCTIONrequire_confirmed_grant
trigger issuing_keys_made_audited of issuing_keys: CREATETRIGGERissuing_keys_made_auditedAFTERINSERTONissuing_keysFOREACHROWEXECUTEFUNCTIONaudit_issuing_key
trigger issuing_keys_not_truncated of issuing_keys: CREATETRIGGERissuing_keys_not_truncatedBEFORETRUNCATEONissuing_keysFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger issuing_keys_offers_end of issuing_keys: CREATETRIGGERissuing_keys_offers_endAFTERUPDATEONissuing_keysFOREACHROWWHENold.retired_atISNULLANDnew.retired_atISNOTNULLEXECUTEFUNCTIONend_offers_of_retired
trigger issuing_keys_replaced of issuing_keys: CREATETRIGGERissuing_keys_replacedAFTERUPDATEONissuing_keysFOREACHROWWHENold.replaced_atISDISTINCTFROMnew.replaced_atORold.retired_atISDISTINCTFROMnew.retired_atEXECUTEFUNCTIONrenew_status_lists
trigger issuing_keys_retired_audited of issuing_keys: CREATETRIGGERissuing_keys_retired_auditedAFTERUPDATEONissuing_keysFOREACHROWWHENold.retired_atISNULLANDnew.retired_atISNOTNULLEXECUTEFUNCTIONaudit_issuing_key
trigger issuing_keys_stay of issuing_keys: CREATETRIGGERissuing_keys_stayBEFOREDELETEORUPDATEONissuing_keysFOREACHROWEXECUTEFUNCTIONrefuse_issuing_key_change
trigger limit_overrides_audited of limit_overrides: CREATETRIGGERlimit_overrides_auditedAFTERINSERTORDELETEORUPDATEONlimit_overridesFOREACHROWEXECUTEFUNCTIONaudit_limit
trigger log_checkpoints_not_truncated of log_checkpoints: CREATETRIGGERlog_checkpoints_not_truncatedBEFORETRUNCATEONlog_checkpointsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger log_checkpoints_stay of log_checkpoints: CREATETRIGGERlog_checkpoints_stayBEFOREDELETEORUPDATEONlog_checkpointsFOREACHROWEXECUTEFUNCTIONrefuse_checkpoint_change
trigger log_entries_immutable of log_entries: CREATETRIGGERlog_entries_immutableBEFOREDELETEORUPDATEONlog_entriesFOREACHROWEXECUTEFUNCTIONrefuse_entry_change
trigger log_entries_not_truncated of log_entries: CREATETRIGGERlog_entries_not_truncatedBEFORETRUNCATEONlog_entriesFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger log_key_announcements_logged of log_key_announcements: CREATETRIGGERlog_key_announcements_loggedAFTERINSERTONlog_key_announcementsFOREACHROWWHENNOTnew.is_firstEXECUTEFUNCTIONmark_key_announcement
trigger log_key_announcements_not_truncated of log_key_announcements: CREATETRIGGERlog_key_announcements_not_truncatedBEFORETRUNCATEONlog_key_announcementsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger log_key_announcements_stay of log_key_announcements: CREATETRIGGERlog_key_announcements_stayBEFOREDELETEORUPDATEONlog_key_announcementsFOREACHROWEXECUTEFUNCTIONrefuse_announcement_change
trigger log_restarts_forget_granted_feeds of log_restarts: CREATETRIGGERlog_restarts_forget_granted_feedsAFTERINSERTONlog_restartsFOREACHROWEXECUTEFUNCTIONforget_granted_feeds
trigger log_restarts_immutable of log_restarts: CREATETRIGGERlog_restarts_immutableBEFOREDELETEORUPDATEONlog_restartsFOREACHROWEXECUTEFUNCTIONrefuse_log_change
trigger log_restarts_move_erased of log_restarts: CREATETRIGGERlog_restarts_move_erasedAFTERINSERTONlog_restartsFOREACHROWEXECUTEFUNCTIONmove_erased
trigger log_restarts_not_truncated of log_restarts: CREATETRIGGERlog_restarts_not_truncatedBEFORETRUNCATEONlog_restartsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger log_tiles_grow of log_tiles: CREATETRIGGERlog_tiles_growBEFOREUPDATEONlog_tilesFOREACHROWWHENsubstrnew.hashes,1,octet_lengthold.hashes<>old.hashesORnew.level<>old.levelORnew.tile_index<>old.tile_indexEXECUTEFUNCTIONrefuse_log_change
trigger log_tiles_not_truncated of log_tiles: CREATETRIGGERlog_tiles_not_truncatedBEFORETRUNCATEONlog_tilesFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger log_tiles_stay of log_tiles: CREATETRIGGERlog_tiles_stayBEFOREDELETEONlog_tilesFOREACHROWEXECUTEFUNCTIONrefuse_log_change
trigger log_tree_grows of log_tree: CREATETRIGGERlog_tree_growsBEFOREUPDATEONlog_treeFOREACHROWWHENnew.size<=old.sizeEXECUTEFUNCTIONrefuse_log_change
trigger log_tree_not_truncated of log_tree: CREATETRIGGERlog_tree_not_truncatedBEFORETRUNCATEONlog_treeFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger log_tree_stays of log_tree: CREATETRIGGERlog_tree_staysBEFOREDELETEONlog_treeFOREACHROWEXECUTEFUNCTIONrefuse_log_change
trigger log_waiting_not_truncated of log_waiting: CREATETRIGGERlog_waiting_not_truncatedBEFORETRUNCATEONlog_waitingFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger map_buckets_grow of map_buckets: CREATETRIGGERmap_buckets_growBEFOREUPDATEONmap_bucketsFOREACHROWWHENnew.path<>old.pathORoctet_lengthmap_records_missingold.content,new.content>0EXECUTEFUNCTIONrefuse_map_change
trigger map_buckets_not_truncated of map_buckets: CREATETRIGGERmap_buckets_not_truncatedBEFORETRUNCATEONmap_bucketsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger map_buckets_stay of map_buckets: CREATECONSTRAINTTRIGGERmap_buckets_stayAFTERDELETEONmap_bucketsDEFERRABLEINITIALLYDEFERREDFOREACHROWEXECUTEFUNCTIONrefuse_key_removal
trigger map_state_grows of map_state: CREATETRIGGERmap_state_growsBEFOREUPDATEONmap_stateFOREACHROWWHENnew.originISDISTINCTFROMold.originORnew.vrf_keyISDISTINCTFROMold.vrf_keyORnew.starts_atISDISTINCTFROMold.starts_atORnew.switched_on_atISDISTINCTFROMold.switched_on_atORnew.backfilled_to<old.backfilled_toORnew.key_count<old.key_countEXECUTEFUNCTIONrefuse_map_change
trigger map_state_not_truncated of map_state: CREATETRIGGERmap_state_not_truncatedBEFORETRUNCATEONmap_stateFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger map_state_stays of map_state: CREATETRIGGERmap_state_staysBEFOREDELETEONmap_stateFOREACHROWEXECUTEFUNCTIONrefuse_map_change
trigger map_streams_grow of map_streams: CREATETRIGGERmap_streams_growBEFOREUPDATEONmap_streamsFOREACHROWWHENnew.stream<>old.streamORnew.last<old.lastORnew.backfilled<old.backfilledEXECUTEFUNCTIONrefuse_map_change
trigger map_streams_not_truncated of map_streams: CREATETRIGGERmap_streams_not_truncatedBEFORETRUNCATEONmap_streamsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger map_streams_stay of map_streams: CREATETRIGGERmap_streams_stayBEFOREDELETEONmap_streamsFOREACHROWEXECUTEFUNCTIONrefuse_map_change
trigger map_tiles_not_truncated of map_tiles: CREATETRIGGERmap_tiles_not_truncatedBEFORETRUNCATEONmap_tilesFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate'restart'
trigger map_tiles_stay of map_tiles: CREATETRIGGERmap_tiles_stayBEFOREDELETEONmap_tilesFOREACHROWEXECUTEFUNCTIONrefuse_map_change
trigger memberships_changed_audited of memberships: CREATETRIGGERmemberships_changed_auditedAFTERUPDATEONmembershipsFOREACHROWWHENold.*ISDISTINCTFROMnew.*EXECUTEFUNCTIONaudit_member
trigger memberships_end_pending_changes of memberships: CREATETRIGGERmemberships_end_pending_changesAFTERUPDATEONmembershipsFOREACHROWWHENold.api_functional_role='tenant_owner'::textANDnew.status<>'active'::textORnew.api_functional_role<>'tenant_owner'::textORnew.principal_type<>'human'::textEXECUTEFUNCTIONend_pending_changes
trigger memberships_made_audited of memberships: CREATETRIGGERmemberships_made_auditedAFTERINSERTONmembershipsFOREACHROWEXECUTEFUNCTIONaudit_member
trigger memberships_owner_changed of memberships: CREATETRIGGERmemberships_owner_changedAFTERUPDATEONmembershipsFOREACHROWWHENnew.api_functional_role='tenant_owner'::textANDnew.status='active'::text<>old.api_functional_role='tenant_owner'::textANDold.status='active'::textEXECUTEFUNCTIONrecord_owner_change
trigger memberships_owner_made of memberships: CREATETRIGGERmemberships_owner_madeAFTERINSERTONmembershipsFOREACHROWWHENnew.api_functional_role='tenant_owner'::textANDnew.status='active'::textEXECUTEFUNCTIONrecord_owner_change
trigger owner_changes_immutable of owner_changes: CREATETRIGGERowner_changes_immutableBEFOREDELETEORUPDATEONowner_changesFOREACHROWEXECUTEFUNCTIONrefuse_log_change
trigger owner_changes_logged of owner_changes: CREATETRIGGERowner_changes_loggedAFTERINSERTONowner_changesFOREACHROWEXECUTEFUNCTIONmark_owner_change
trigger owner_changes_not_truncated of owner_changes: CREATETRIGGERowner_changes_not_truncatedBEFORETRUNCATEONowner_changesFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger pending_grants_audited of pending_grants: CREATETRIGGERpending_grants_auditedAFTERINSERTORUPDATEONpending_grantsFOREACHROWEXECUTEFUNCTIONaudit_pending_grant
trigger pending_grants_not_truncated of pending_grants: CREATETRIGGERpending_grants_not_truncatedBEFORETRUNCATEONpending_grantsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger pending_grants_stay of pending_grants: CREATETRIGGERpending_grants_stayBEFOREDELETEORUPDATEONpending_grantsFOREACHROWEXECUTEFUNCTIONrefuse_pending_grant_change
trigger presentation_requests_audited of presentation_requests: CREATETRIGGERpresentation_requests_auditedAFTERINSERTONpresentation_requestsFOREACHROWEXECUTEFUNCTIONaudit_presentation_request
trigger presentation_requests_immutable of presentation_requests: CREATETRIGGERpresentation_requests_immutableBEFOREUPDATEONpresentation_requestsFOREACHROWWHENto_jsonbold.*-'{sealed,status,wrong_answers,problem,attestation_id}'::text[]<>to_jsonbnew.*-'{sealed,status,wrong_answers,problem,attestation_id}'::text[]ORold.status<>'pending'::textORnew.sealed<>old.sealedORnew.wrong_answers<old.wrong_answersEXECUTEFUNCTIONrefuse_presentation_request_change
trigger record_batches_immutable of record_batches: CREATETRIGGERrecord_batches_immutableBEFOREDELETEORUPDATEONrecord_batchesFOREACHROWEXECUTEFUNCTIONrefuse_log_change
trigger record_batches_logged of record_batches: CREATETRIGGERrecord_batches_loggedAFTERINSERTONrecord_batchesFOREACHROWEXECUTEFUNCTIONmark_record_batch
trigger record_batches_not_truncated of record_batches: CREATETRIGGERrecord_batches_not_truncatedBEFORETRUNCATEONrecord_batchesFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger records_waiting_not_truncated of records_waiting: CREATETRIGGERrecords_waiting_not_truncatedBEFORETRUNCATEONrecords_waitingFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger refresh_requests_changed_audited of refresh_requests: CREATETRIGGERrefresh_requests_changed_auditedAFTERUPDATEONrefresh_requestsREFERENCINGOLDTABLEASold_rowsNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONaudit_refresh_requests
trigger refresh_requests_made_audited of refresh_requests: CREATETRIGGERrefresh_requests_made_auditedAFTERINSERTONrefresh_requestsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONaudit_refresh_requests
trigger refresh_requests_owner of refresh_requests: CREATETRIGGERrefresh_requests_ownerBEFOREINSERTONrefresh_requestsFOREACHROWEXECUTEFUNCTIONname_refresh_request_owner
trigger refresh_requests_recur of refresh_requests: CREATETRIGGERrefresh_requests_recurBEFOREUPDATEONrefresh_requestsFOREACHROWWHENold.status='pending'::textANDnew.status<>'pending'::textANDnew.everyISNOTNULLANDnew.series_end_reasonISNULLEXECUTEFUNCTIONplan_next_refresh_request
trigger snapshot_provenance_not_truncated of snapshot_provenance: CREATETRIGGERsnapshot_provenance_not_truncatedBEFORETRUNCATEONsnapshot_provenanceFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger snapshot_provenance_stays of snapshot_provenance: CREATETRIGGERsnapshot_provenance_staysBEFOREDELETEORUPDATEONsnapshot_provenanceFOREACHROWEXECUTEFUNCTIONrefuse_provenance_change
trigger snapshot_views_logged of snapshot_views: CREATETRIGGERsnapshot_views_loggedAFTERINSERTONsnapshot_viewsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONmark_views
trigger snapshot_views_not_truncated of snapshot_views: CREATETRIGGERsnapshot_views_not_truncatedBEFORETRUNCATEONsnapshot_viewsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger snapshot_views_stay of snapshot_views: CREATETRIGGERsnapshot_views_stayBEFOREDELETEORUPDATEONsnapshot_viewsFOREACHROWEXECUTEFUNCTIONrefuse_view_change
trigger snapshots_announced of snapshots: CREATETRIGGERsnapshots_announcedAFTERINSERTONsnapshotsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONmark_shared_snapshots
trigger snapshots_erased_unfound of snapshots: CREATETRIGGERsnapshots_erased_unfoundAFTERUPDATEONsnapshotsFOREACHROWWHENold.erasure_idISNULLANDnew.erasure_idISNOTNULLEXECUTEFUNCTIONforget_search_terms
trigger snapshots_immutable of snapshots: CREATETRIGGERsnapshots_immutableBEFOREDELETEORUPDATEONsnapshotsFOREACHROWEXECUTEFUNCTIONrefuse_snapshot_change
trigger snapshots_logged of snapshots: CREATETRIGGERsnapshots_loggedAFTERINSERTONsnapshotsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONmark_new_snapshots
trigger snapshots_not_truncated of snapshots: CREATETRIGGERsnapshots_not_truncatedBEFORETRUNCATEONsnapshotsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_snapshot_change
trigger snapshots_sealed_logged of snapshots: CREATETRIGGERsnapshots_sealed_loggedAFTERUPDATEONsnapshotsREFERENCINGOLDTABLEASold_rowsNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONmark_sealed_snapshots
trigger snapshots_supersede of snapshots: CREATETRIGGERsnapshots_supersedeAFTERINSERTONsnapshotsREFERENCINGNEWTABLEASnew_rowsFOREACHSTATEMENTEXECUTEFUNCTIONsupersede_credentials
trigger snapshots_time_set of snapshots: CREATETRIGGERsnapshots_time_setBEFOREINSERTONsnapshotsFOREACHROWWHENnew.created_atISDISTINCTFROMnowEXECUTEFUNCTIONset_time_of_snapshot
trigger snapshots_use_attestations of snapshots: CREATETRIGGERsnapshots_use_attestationsAFTERINSERTONsnapshotsFOREACHROWWHENstrposnew.envelope,'"locator":"att_'::text>0EXECUTEFUNCTIONnote_attestation_uses
trigger status_lists_grow of status_lists: CREATETRIGGERstatus_lists_growBEFOREUPDATEONstatus_listsFOREACHROWWHENold.list_id<>new.list_idORold.tenant_id<>new.tenant_idORold.issuer<>new.issuerORold.uri<>new.uriORnew.used<old.usedORnew.signed_at<old.signed_atEXECUTEFUNCTIONrefuse_status_list_change
trigger status_lists_not_truncated of status_lists: CREATETRIGGERstatus_lists_not_truncatedBEFORETRUNCATEONstatus_listsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger status_lists_stay of status_lists: CREATETRIGGERstatus_lists_stayBEFOREDELETEONstatus_listsFOREACHROWEXECUTEFUNCTIONrefuse_status_list_change
trigger subjects_not_truncated of subjects: CREATETRIGGERsubjects_not_truncatedBEFORETRUNCATEONsubjectsFOREACHSTATEMENTEXECUTEFUNCTIONrefuse_truncate
trigger tenants_changed_audited of tenants: CREATETRIGGERtenants_changed_auditedAFTERUPDATEONtenantsFOREACHROWWHENold.*ISDISTINCTFROMnew.*EXECUTEFUNCTIONaudit_tenant
trigger tenants_founded_audited of tenants: CREATETRIGGERtenants_founded_auditedAFTERINSERTONtenantsFOREACHROWEXECUTEFUNCTIONaudit_tenant
trigger tenants_hold_back_changes of tenants: CREATETRIGGERtenants_hold_back_changesBEFOREUPDATEONtenantsFOREACHROWEXECUTEFUNCTIONhold_back_changes'erasure_confirmation','grant_confirmation'
trigger transfer_offers_ended_audited of transfer_offers: CREATETRIGGERtransfer_offers_ended_auditedAFTERUPDATEONtransfer_offersFOREACHROWWHENold.status='pending'::textANDnew.status=ANYARRAY['accepted'::text,'declined'::text,'cancelled'::text]EXECUTEFUNCTIONaudit_transfer_offer
trigger transfer_offers_made_audited of transfer_offers: CREATETRIGGERtransfer_offers_made_auditedAFTERINSERTONtransfer_offersFOREACHROWEXECUTEFUNCTIONaudit_transfer_offer
trigger trusted_issuers_audited of trusted_issuers: CREATETRIGGERtrusted_issuers_auditedAFTERINSERTORDELETEORUPDATEONtrusted_issuersFOREACHROWEXECUTEFUNCTIONaudit_trusted_issuer
trigger webhook_subscriptions_changed_audited of webhook_subscriptions: CREATETRIGGERwebhook_subscriptions_changed_auditedAFTERUPDATEONwebhook_subscriptionsFOREACHROWWHENold.target_urlISDISTINCTFROMnew.target_urlORold.event_typesISDISTINCTFROMnew.event_typesORold.pathsISDISTINCTFROMnew.pathsORold.statusISDISTINCTFROMnew.statusORold.secret_fingerprintISDISTINCTFROMnew.secret_fingerprintORold.deleted_atISDISTINCTFROMnew.deleted_atEXECUTEFUNCTIONaudit_subscription
trigger webhook_subscriptions_made_audited of webhook_subscriptions: CREATETRIGGERwebhook_subscriptions_made_auditedAFTERINSERTONwebhook_subscriptionsFOREACHROWEXECUTEFUNCTIONaudit_subscription
trigger webhook_subscriptions_types of webhook_subscriptions: CREATETRIGGERwebhook_subscriptions_typesAFTERINSERTORDELETEORUPDATEOFtenant_id,event_types,created_at,deleted_atONwebhook_subscriptionsFOREACHROWEXECUTEFUNCTIONkeep_subscription_types
unique index credential_offers_by_code of credential_offers: CREATEUNIQUEINDEXcredential_offers_by_codeONcredential_offersUSINGbtreecode_hash
unique index credential_offers_by_token of credential_offers: CREATEUNIQUEINDEXcredential_offers_by_tokenONcredential_offersUSINGbtreetoken_hashWHEREtoken_hashISNOTNULL
unique index disclosures_by_id of disclosures: CREATEUNIQUEINDEXdisclosures_by_idONdisclosuresUSINGbtreedisclosure_id
unique index disclosures_once of disclosures: CREATEUNIQUEINDEXdisclosures_onceONdisclosuresUSINGbtreedisclosed_on,subject_key,grantee_tenant_id,principal_id,via,from_version,to_version,paths_hashpathsNULLSNOTDISTINCT
unique index erasures_pending_key of erasures: CREATEUNIQUEINDEXerasures_pending_keyONerasuresUSINGbtreesubject_keyWHEREstatus='pending'::text
unique index issuing_keys_signing of issuing_keys: CREATEUNIQUEINDEXissuing_keys_signingONissuing_keysUSINGbtreetenant_idWHEREreplaced_atISNULL
unique index log_entries_of_announcements of log_entries: CREATEUNIQUEINDEXlog_entries_of_announcementsONlog_entriesUSINGbtreeannouncement_idWHEREannouncement_idISNOTNULL
unique index log_entries_of_backfill of log_entries: CREATEUNIQUEINDEXlog_entries_of_backfillONlog_entriesUSINGbtreebackfill_fromWHEREbackfill_fromISNOTNULL
unique index log_entries_of_batches of log_entries: CREATEUNIQUEINDEXlog_entries_of_batchesONlog_entriesUSINGbtreerecord_batch_idWHERErecord_batch_idISNOTNULL
unique index log_entries_of_erasures of log_entries: CREATEUNIQUEINDEXlog_entries_of_erasuresONlog_entriesUSINGbtreeerasure_idWHEREerasure_idISNOTNULL
unique index log_entries_of_grant_changes of log_entries: CREATEUNIQUEINDEXlog_entries_of_grant_changesONlog_entriesUSINGbtreegrant_change_idWHEREgrant_change_idISNOTNULL
unique index log_entries_of_grants of log_entries: CREATEUNIQUEINDEXlog_entries_of_grantsONlog_entriesUSINGbtreegrant_id,entry_typeWHEREgrant_idISNOTNULL
unique index log_entries_of_owner_changes of log_entries: CREATEUNIQUEINDEXlog_entries_of_owner_changesONlog_entriesUSINGbtreeowner_change_idWHEREowner_change_idISNOTNULL
unique index log_entries_of_restarts of log_entries: CREATEUNIQUEINDEXlog_entries_of_restartsONlog_entriesUSINGbtreerestart_idWHERErestart_idISNOTNULL
unique index log_entries_of_snapshots of log_entries: CREATEUNIQUEINDEXlog_entries_of_snapshotsONlog_entriesUSINGbtreesubject_key,snapshot_versionWHEREentry_type=1
unique index log_entries_of_views of log_entries: CREATEUNIQUEINDEXlog_entries_of_viewsONlog_entriesUSINGbtreesubject_key,snapshot_versionWHEREentry_type=14
unique index log_key_announcements_live of log_key_announcements: CREATEUNIQUEINDEXlog_key_announcements_liveONlog_key_announcementsUSINGbtreevkeyWHEREended_atISNULL
unique index transfer_offers_pending_key of transfer_offers: CREATEUNIQUEINDEXtransfer_offers_pending_keyONtransfer_offersUSINGbtreetenant_idWHEREstatus='pending'::text
unique index updates_applied_snapshot_key of updates: CREATEUNIQUEINDEXupdates_applied_snapshot_keyONupdatesUSINGbtreeapplied_snapshot_idWHEREapplied_snapshot_idISNOTNULL
unique index updates_request_key of updates: CREATEUNIQUEINDEXupdates_request_keyONupdatesUSINGbtreetenant_id,request_idWHERErequest_idISNOTNULL
`;
