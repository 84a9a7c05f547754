import { decideAddress, isAllowedAddress } from './address';

describe('decideAddress', () => {
  it.each([
    ['1.1.1.1', 'public'],
    ['8.8.8.8', 'public'],
    ['93.184.215.14', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['198.17.255.255', 'public'],
    ['198.20.0.0', 'public'],
    ['223.255.255.255', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['2a00:1450:4001:830::200e', 'public'],
    ['0.0.0.0', 'unspecified'],
    ['0.255.255.255', 'unspecified'],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['169.254.0.1', 'linkLocal'],
    ['169.254.169.254', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['100.64.0.0', 'carrierGradeNat'],
    ['100.127.255.255', 'carrierGradeNat'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['198.18.0.0', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::127.0.0.1', 'ipv4Mapped'],
    ['::8.8.8.8', 'ipv4Mapped'],
    ['::7f00:1', 'reserved'],
    ['::808:808', 'reserved'],
    ['::ffff:127.0.0.1', 'ipv4Mapped'],
    ['::ffff:7f00:1', 'ipv4Mapped'],
    ['::ffff:8.8.8.8', 'ipv4Mapped'],
    ['::ffff:0:127.0.0.1', 'rfc6145'],
    ['64:ff9b::127.0.0.1', 'rfc6052'],
    ['64:ff9b::808:808', 'rfc6052'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['64:ff9b:1:ffff::a00:1', 'rfc6052'],
    ['64:ff9b:2::1', 'reserved'],
    ['2002:7f00:1::', '6to4'],
    ['2002:808:808::1', '6to4'],
    ['2001::1', 'teredo'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'teredo'],
    ['2001:2::1', 'benchmarking'],
    ['2001:db8::1', 'reserved'],
    ['2001:10::1', 'deprecatedOrchid'],
    ['2001:20::1', 'orchid2'],
    ['3fff::1', 'reserved'],
    ['5f00::1', 'segmentRouting'],
    ['100::1', 'discard'],
    ['fc00::1', 'uniqueLocal'],
    ['fdff:ffff::1', 'uniqueLocal'],
    ['fd00:ec2::254', 'metadata'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['ff02::1', 'multicast'],
    ['4000::1', 'reserved'],
    ['8000::1', 'reserved'],
    ['e000::1', 'reserved'],
    ['', 'invalid'],
    ['localhost', 'invalid'],
    ['1.2.3.4.5', 'invalid'],
    ['[::1]', 'invalid'],
  ])('%s: %s', (address, verdict) => {
    expect(decideAddress(address)).toBe(verdict);
  });

  it.each([
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '127.000.000.001',
    '１２７.0.0.1',
    '127。0。0。1',
  ])('sees through the spelling %s in a URL', (host) => {
    expect(decideAddress(new URL(`https://${host}/`).hostname)).toBe('loopback');
  });

  it.each(['[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:0001]', '[::FFFF:7F00:1]'])(
    'sees through the spelling %s in a URL',
    (host) => {
      expect(decideAddress(new URL(`https://${host}/`).hostname.slice(1, -1))).toBe('ipv4Mapped');
    },
  );
});

describe('isAllowedAddress', () => {
  it.each(['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', 'fd12::1'])(
    '%s only where private targets are',
    (address) => {
      expect(isAllowedAddress(address, false)).toBe(false);
      expect(isAllowedAddress(address, true)).toBe(true);
    },
  );

  it.each(['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '::ffff:127.0.0.1', '0.0.0.0', '224.0.0.1', 'fe80::1'])(
    '%s nowhere',
    (address) => {
      expect(isAllowedAddress(address, true)).toBe(false);
    },
  );
});
