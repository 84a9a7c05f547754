import { decideAddress, isAllowedAddress, isNetwork, withinNetworks } from './address';

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
    ['100.100.100.200', 'metadata'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['198.18.0.0', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['192.31.196.1', 'as112'],
    ['192.52.193.1', 'amt'],
    ['192.175.48.1', 'as112'],
    ['240.0.0.0', 'reserved'],
    ['255.255.255.254', 'reserved'],
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
    ['::ffff:169.254.169.254', 'ipv4Mapped'],
    ['::ffff:a9fe:a9fe', 'ipv4Mapped'],
    ['0:0:0:0:0:ffff:7f00:1', 'ipv4Mapped'],
    ['::FFFF:10.0.0.1', 'ipv4Mapped'],
    ['::fffe:7f00:1', 'reserved'],
    ['::ffff:0:127.0.0.1', 'rfc6145'],
    ['64:ff9b::127.0.0.1', 'rfc6052'],
    ['64:ff9b::808:808', 'rfc6052'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['64:ff9b:1:ffff::a00:1', 'rfc6052'],
    ['64:ff9b::a9fe:a9fe', 'rfc6052'],
    ['64:ff9b::1:0:0', 'reserved'],
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
    ['100:0:0:1::1', 'reserved'],
    ['2001:3::1', 'amt'],
    ['2001:4:112::1', 'as112v6'],
    ['2620:4f:8000::1', 'as112v6'],
    ['fc00::1', 'uniqueLocal'],
    ['fdff:ffff::1', 'uniqueLocal'],
    ['fd00:ec2::254', 'metadata'],
    ['FD00:0EC2:0:0:0:0:0:0254', 'metadata'],
    ['fd00:ec2::254%eth0', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['febf:ffff::1', 'linkLocal'],
    ['feff::1', 'deprecatedSiteLocal'],
    ['fe00::1', 'reserved'],
    ['fbff::1', 'reserved'],
    ['1fff::1', 'reserved'],
    ['ff02::1', 'multicast'],
    ['ff0e::1', 'multicast'],
    ['4000::1', 'reserved'],
    ['8000::1', 'reserved'],
    ['e000::1', 'reserved'],
    ['', 'invalid'],
    ['localhost', 'invalid'],
    ['1.2.3.4.5', 'invalid'],
    ['[::1]', 'invalid'],
    ['127.0.0.1.', 'invalid'],
    ['256.1.1.1', 'invalid'],
    ['::g', 'invalid'],
  ])('classifies %s as %s', (address, verdict) => {
    expect(decideAddress(address)).toBe(verdict);
  });

  it.each([
    ['2130706433', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['017700000001', 'loopback'],
    ['127.1', 'loopback'],
    ['127.0.1', 'loopback'],
    ['0x7f.1', 'loopback'],
    ['0x7f.0x0.0x0.0x1', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['127.000.000.001', 'loopback'],
    ['127.0.0.1.', 'loopback'],
    ['１２７.0.0.1', 'loopback'],
    ['127。0。0。1', 'loopback'],
    ['①②⑦.0.0.1', 'loopback'],
    ['%31%32%37.0.0.1', 'loopback'],
    ['12\u200b7.0.0.1', 'loopback'],
    ['0', 'unspecified'],
    ['0x0', 'unspecified'],
    ['⑩.0.0.1', 'private'],
    ['3232235521', 'private'],
    ['0300.0250.0.1', 'private'],
    ['0xa9fea9fe', 'metadata'],
    ['2852039166', 'metadata'],
    ['0251.0376.0251.0376', 'metadata'],
    ['169.254.43518', 'metadata'],
    ['１６９。２５４。１６９。２５４', 'metadata'],
    ['4294967295', 'broadcast'],
    ['[::1]', 'loopback'],
    ['[0000:0000:0000:0000:0000:0000:0000:0001]', 'loopback'],
    ['[::]', 'unspecified'],
    ['[::127.0.0.1]', 'reserved'],
    ['[::ffff:127.0.0.1]', 'ipv4Mapped'],
    ['[0:0:0:0:0:ffff:7f00:0001]', 'ipv4Mapped'],
    ['[::FFFF:7F00:1]', 'ipv4Mapped'],
    ['[64:ff9b::127.0.0.1]', 'rfc6052'],
    ['[2002:7f00:1::]', '6to4'],
    ['[FD00:EC2::254]', 'metadata'],
  ])('classifies the spelling %s in a URL as %s', (host, verdict) => {
    expect(decideAddress(new URL(`https://${host}/`).hostname.replace(/^\[|\]$/g, ''))).toBe(verdict);
  });

  it.each([
    'https:\\\\127.0.0.1\\x',
    'https:127.0.0.1',
    'https:/127.0.0.1',
    'https:///127.0.0.1',
    'https://127.0.0.1#@example.com/',
  ])('classifies the host of the URL %s as loopback', (url) => {
    expect(decideAddress(new URL(url).hostname)).toBe('loopback');
  });

  it.each(['[::1%25lo]', '[fe80::1%eth0]', '127.0.0.256', '1.2.3.4.5', '127.0.0.1%2f'])(
    'needs no rule for %s, which is not a valid host in a URL',
    (host) => {
      expect(URL.canParse(`https://${host}/`)).toBe(false);
    },
  );
});

describe('isAllowedAddress', () => {
  it.each(['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', 'fd12::1'])(
    'allows %s only with private targets',
    (address) => {
      expect(isAllowedAddress(address, false)).toBe(false);
      expect(isAllowedAddress(address, true)).toBe(true);
    },
  );

  it.each(['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '::ffff:127.0.0.1', '0.0.0.0', '224.0.0.1', 'fe80::1'])(
    'never allows %s',
    (address) => {
      expect(isAllowedAddress(address, true)).toBe(false);
    },
  );
});

describe('withinNetworks', () => {
  const isWithin = withinNetworks(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::ffff:198.51.100.9']);

  it.each([
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['::ffff:10.1.1.1', true],
    ['2001:db8:1::1', true],
    ['2001:db9::1', false],
    ['198.51.100.9', true],
    ['no address', false],
    ['', false],
  ])('isWithin(%j) returns %s', (address, expected) => expect(isWithin(address)).toBe(expected));
});

it.each([
  ['192.0.2.1', true],
  ['192.0.2.0/24', true],
  ['2001:db8::/32', true],
  ['192.0.2.0/33', false],
  ['proxy.example.com', false],
  ['', false],
])('isNetwork(%j) returns %s', (text, expected) => expect(isNetwork(text)).toBe(expected));
