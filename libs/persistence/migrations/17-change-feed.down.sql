DROP TABLE shared_feed, tenant_feed, log_feed;
