/** The ids that all examples share. */
export const EXAMPLE_IDS = {
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  next_snapshot_id: '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e',
  update_id: '0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2',
  grant_id: '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52',
  pending_grant_id: '5a9c2e71-0d4b-4e86-b3f7-2c8d1e6a9b40',
  refresh_request_id: '9a4e1f0c-2b7d-4c3e-8f51-6d0a7b9c2e14',
  offer_id: '0c7a4be2-3f0d-4c58-9b0e-5a1d2c3e4f60',
  erasure_id: '6c1e8d7a-94b2-4f3d-a0c5-1e7b2d9f4a63',
  request_id: '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001',
  /** Without its prefix. */
  subscription_id: '7d0b1c9e-40bb-4d5b-8f2c-6a3f0f3a9d11',
  /** Without its prefix. */
  attestation_id: '1f4b6a90-2c7d-4e8a-b5f3-9d0e1c2a3b47',
  presentation_request_id: '7e3d5c18-b9a2-4f60-8c41-d2f0a6b7e935',
  /** Without its prefix. */
  credential_id: '5c9d2e71-8a04-4b3f-9e16-7d0f3a2b1c58',
  list_id: '2b7e4d90-1c5a-4f68-8d3b-0a9c6e5f7412',
  kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  delivery_id: '0d9a3f52-7f0c-4b62-9f0e-2a1f6f1f9c77',
};
