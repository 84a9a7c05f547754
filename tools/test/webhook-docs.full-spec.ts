import { describeReceiver } from './webhook-receivers.ts';

// These compilers take seconds of processor time. `webhook-docs.int-spec.ts` runs the other receivers.
describeReceiver({ file: 'receiver.go', versionFlag: 'version', schemes: ['webhook', 'service'] });
describeReceiver({ file: 'Receiver.java', versionFlag: '--version', schemes: ['webhook', 'service'] });
