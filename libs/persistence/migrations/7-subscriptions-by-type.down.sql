DROP TRIGGER webhook_subscriptions_types ON webhook_subscriptions;
DROP FUNCTION keep_subscription_types();
DROP TABLE webhook_subscription_types;
