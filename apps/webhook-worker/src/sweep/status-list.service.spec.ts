import { randomBytes } from 'node:crypto';
import { newIssuingKey, readStatusList } from '@iss/attestation';
import type { DueStatusList, SignedStatusList } from '@iss/persistence';
import { createLogger, SecretBox } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { StatusListService } from './status-list.service';
