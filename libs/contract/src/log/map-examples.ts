import type { AbsenceProofView, GrantStateProofView, LatestProofView, TenantAbsenceProofView } from './map-proof-views';

/** Examples that verify with the keys of the examples of the log. */
const END = {
  checkpoint:
    'log.example/iss\n6\nRFnjcCpsCAEqAnUgMMI4gRjpjkAWPBTUbhK1cDn7Vrw=\n\n— log.example/iss HkA1lBGABxr1GpMhcYCd5rIRl+txVXhZy494s84YM7eqSy2EUm6k6gwmXwg44Bp04TQzvX/PFoqywOpGE3/oYbcVmQw=\n— witness.example/w1 Oo4KVQAAAABpaLOYc98vh2tad4NTyus3azRPhyEkFt7QTNCzahwoR+JMXP9UvdpJGp3WTXo3BCgdh6KNIYtEOFaf4bYrqopCAzCoBg==\n',
  map_root: {
    log_index: 5,
    entry:
      '{"covers":5,"map_root":"WHeFUch9pYgrc-AZk2-tiIFiJ_F9_mDrFEuImIROiV0","map_version":"iss_map_v1","type":"map.root"}',
    inclusion: ['OZUdcMPNA9SYcCYtuv782bgzcHmIG+lijlPantVpef8=', 'UIQICqY8CdxnKkTQJ26JNm08ctiYF2LYOvtR/FVmXWo='],
  },
};

const OF_VERSIONS = [
  {
    number: 1,
    vrf_proof:
      '2sE60oO6f4sZp9EU4ji37tKPFl47WeGGx/25e89xdmDzl3Tz0v3jOXzW+rzBrhfWMRvtCvK2UKe6Hwh32A8qHxqRTosTLRsKtnER8fpJHQs=',
    log_indexes: [0],
    path: 'BFISueU9nBXtzsTn43TPiEoxgMZyr9zsutJzmoCw3m92ApISN8wGpKlsvgoe/Cggdvdn//vsu+hRjN7RxSyV6JBdAYCARBr3NxGpmZetDg2NZx2SQAg5Is1yjZwLdN5hODcTACgZNcrWz/p68otz6yFXASsz7JzU+nItsNe3RMje8p0d',
    other: null,
  },
  {
    number: 2,
    vrf_proof:
      'vluwamlQQGQp6G622Viclmkh4WkoHDmIOJUYkPOakGzg2AIWsdwWCtE+2YryVEbD8Y5iypUFU+NKOQ0ve7KiDP5JEL5gK9PBpQScTylSSQo=',
    log_indexes: [4],
    path: 'AhccIZkUXdWZeOxqu5ACjVncWmtJxntpyeWYBpWOgG/aAYCARBr3NxGpmZetDg2NZx2SQAg5Is1yjZwLdN5hODcTACgZNcrWz/p68otz6yFXASsz7JzU+nItsNe3RMje8p0d',
    other: null,
  },
  {
    number: 4,
    vrf_proof:
      'BFy29/X97eNqBsEpByHpI0N0lRjqgIiZQLg0/XRP+AeKmOE27aHzcb9tbVGvNcX/q3xj6Z5C53gdX48QMav8MOI8Xow+vDt4jkVBE4iQ3gw=',
    log_indexes: [],
    path: 'AyikEpFU7u9eIPmlYNCzeFwvQww52Dpc+jYUVCWYe5fTAZTBLSIEbI09oYCtTDQTBUa/d0HaWW3dM5Yb8g6rZq69AMFq3RWC9einl39YK05vcQcRlucQuzbes/IX4gkP/oZ1',
    other: {
      key: '8cbU6qE5vBdbvxtZlLQuYweiUZtNLb0YgK14Nhie3f8=',
      value: '2B9ReB7rj0ag4RLobKM1iWzMEs7gDmz89Yo1ARKd/CQ=',
    },
  },
  {
    number: 3,
    vrf_proof:
      'gsv0Q2mEAlfE9/dupZUo2ZPscFxm4mgXFsPN8r7eGWNp6ZIkV90zJ9RYtrq25cvqzaRPtZxGTvAKHSwBqTKcUzis6H9yQCUtYbcOcnGPuwY=',
    log_indexes: [],
    path: 'AyikEpFU7u9eIPmlYNCzeFwvQww52Dpc+jYUVCWYe5fTAZTBLSIEbI09oYCtTDQTBUa/d0HaWW3dM5Yb8g6rZq69AMFq3RWC9einl39YK05vcQcRlucQuzbes/IX4gkP/oZ1',
    other: {
      key: '8cbU6qE5vBdbvxtZlLQuYweiUZtNLb0YgK14Nhie3f8=',
      value: '2B9ReB7rj0ag4RLobKM1iWzMEs7gDmz89Yo1ARKd/CQ=',
    },
  },
];

export const LATEST_EXAMPLE: LatestProofView = {
  subject_type: 'organization',
  subject_id: 'acme-corp',
  snapshot_version: 2,
  as_of_size: 6,
  head: {
    log_index: 4,
    entry:
      '{"created_at":"2026-01-16T09:00:00.000Z","entry_version":"iss_log_entry_v2","envelope_hash":"28e139c59906799360e037034297c075c9172cf6cde20ac75b9a88841d97c438","prev_hash":"7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219","salt":"BQUFBQUFBQUFBQUFBQUFBQ","snapshot_id":"8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e","snapshot_version":2,"subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"snapshot.created","write_request_id":"4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001","written_by":"oidc:dev#alice"}',
    keys: ['L6TWpH4-bEWaJmvQvfTAyd5-oh5GK98rJoCJpV7aExs'],
    inclusion: ['Esjnm+kHl/GUuxk0xj6Q6wauyOOuA8LlL/VjbHbf54I=', 'UIQICqY8CdxnKkTQJ26JNm08ctiYF2LYOvtR/FVmXWo='],
  },
  map: { ...END, look_ups: OF_VERSIONS },
};

export const ABSENCE_EXAMPLE: AbsenceProofView = {
  tenant_id: 'acme',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  stream: 'v',
  number: 3,
  map: { ...END, look_ups: OF_VERSIONS },
};

export const TENANT_ABSENCE_EXAMPLE: TenantAbsenceProofView = {
  tenant_id: 'acme',
  stream: 'w',
  number: 1,
  map: {
    ...END,
    look_ups: [
      {
        number: 1,
        vrf_proof:
          'jEq/zzSdpuOYZboiRgJ9uS6LeYv1UqROHzpjhSLqi2ddsLL9z+0z24drKrmzODWYQNcr1X8etwqKKo1Ff0DCKWTuJUGHegwmtWATPZKS/As=',
        log_indexes: [],
        path: 'AaEIDvUBvFppkZcpcMCW+58qOhf8yTUTDiJWPUebxUz2ACgZNcrWz/p68otz6yFXASsz7JzU+nItsNe3RMje8p0d',
        other: {
          key: 'RfC+wIOSwiGuU/nYUvRdKoxe5ZSgSxUqp0MtS/WtAo0=',
          value: '2B9ReB7rj0ag4RLobKM1iWzMEs7gDmz89Yo1ARKd/CQ=',
        },
      },
    ],
  },
};

export const GRANT_STATE_EXAMPLE: GrantStateProofView = {
  grant_id: '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52',
  state: 'revoked',
  number: 2,
  log_index: 2,
  entry:
    '{"entry_version":"iss_log_entry_v2","grant_id":"3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52","revoked_at":"2026-02-01T00:00:00.000Z","salt":"AwMDAwMDAwMDAwMDAwMDAw","tenant_id":"acme","type":"grant.revoked"}',
  keys: ['RfC-wIOSwiGuU_nYUvRdKoxe5ZSgSxUqp0MtS_WtAo0', '8cbU6qE5vBdbvxtZlLQuYweiUZtNLb0YgK14Nhie3f8'],
  inclusion: [
    'BBAJ3OLCQ9qpSRRmS1XQ7qcOqGUXjJSrbDj6SrSVUho=',
    'OMsZpmtCVd1uVCEZ0Yaehpw2NH2ziQiJsPs0remVQo4=',
    'oaxzgzjhME8z3v2TOhzKVMMS2xqqdx11o4W8FrGUAD4=',
  ],
  map: {
    ...END,
    look_ups: [
      {
        number: 1,
        vrf_proof:
          'vDx8dWZgfGzx4uDpRBbx9ffQcMF8hAU+4WoCgXRMdyBDD+PGgTxwT6yg3/K9cMIDDfH0IMBmSXSYuwciX+uGFX584YwdTChM064KkhOIUwE=',
        log_indexes: [1],
        path: 'A+MWZx5JSoNp+EH207yjT1YAJ40lkmI7i7aiofj4ZsOHAZTBLSIEbI09oYCtTDQTBUa/d0HaWW3dM5Yb8g6rZq69AMFq3RWC9einl39YK05vcQcRlucQuzbes/IX4gkP/oZ1',
        other: null,
      },
      {
        number: 2,
        vrf_proof:
          '5i9M9PMDx7KVQBnDUf3eSC8cxTEo1+H/EdX3m2nBKAyZNDofVxya6oNDFcoa6a8XHhxvnadKqnFGnmia9cLjmkFqUMGo1AD1UH1W/NQv7gM=',
        log_indexes: [2],
        path: 'AaEIDvUBvFppkZcpcMCW+58qOhf8yTUTDiJWPUebxUz2ACgZNcrWz/p68otz6yFXASsz7JzU+nItsNe3RMje8p0d',
        other: null,
      },
      {
        number: 4,
        vrf_proof:
          'ShK4X/HW1cx0E/QOdocLVDk/feXrlThiUHbsRET+YkA3VZ/hI7FpRwq6jgi43f0joPZCWguSnr4g765aWyg7+9NXbC4IdSZWAF2f6k8Nggk=',
        log_indexes: [],
        path: 'AhccIZkUXdWZeOxqu5ACjVncWmtJxntpyeWYBpWOgG/aAYCARBr3NxGpmZetDg2NZx2SQAg5Is1yjZwLdN5hODcTACgZNcrWz/p68otz6yFXASsz7JzU+nItsNe3RMje8p0d',
        other: {
          key: 'L6TWpH4+bEWaJmvQvfTAyd5+oh5GK98rJoCJpV7aExs=',
          value: 'mJkwf510d0YSJXXt7rOWPHyDwCkkH4Kj0XuZlyh42w4=',
        },
      },
      {
        number: 3,
        vrf_proof:
          '6jxWGRmNuiZuw7aIzzv5a4PzssFj18zRHZwyYe3wSlYjU/INrMa/Wazr0AXuBD7Hw35wXHZumlxEZm5+onQDuFVO3o/Jkji5U5vxSJg5Mwg=',
        log_indexes: [],
        path: 'A+MWZx5JSoNp+EH207yjT1YAJ40lkmI7i7aiofj4ZsOHAZTBLSIEbI09oYCtTDQTBUa/d0HaWW3dM5Yb8g6rZq69AMFq3RWC9einl39YK05vcQcRlucQuzbes/IX4gkP/oZ1',
        other: {
          key: '5XdMqMzUFjkQUwdr7tTSSBiEyrVPePe1coi1jM8bj38=',
          value: 'KuHBnAy9N45GySep82EZI+wHzBrjV1AqCVNtRVJ1zyE=',
        },
      },
    ],
  },
};
