import type { settings } from '../src/config/settings.js'

const TOO_LONG = 'x'.repeat(10_000)
const URLS = [
  '',
  'node.example/v1',
  'ftp://node.example/v1',
  'http://',
  'http://a b/v1',
  'http://node.example:99999/v1',
  'http://u:p@node.example/v1',
  'https://p@node.example/v1',
  'http://node.example/v1?x=1',
  'http://node.example/v1#x',
  `http://node.example/${TOO_LONG}/v1`,
]
const ADDRESSES = ['', 'x', '8080', ':8080', '127.0.0.1', '127.0.0.1:', '127.0.0.1:65536', '[::1]', '::1:80', 'a:-1']
const STORES = ['', 'x', 'postgres://', 'postgres://u:p@host', 'mysql://u:p@host/d', `postgres://h/${TOO_LONG}`]
const SWITCHES = ['', 'yes', 'TRUE', '2']
const wholeNumbers = (least: number, most: number) => [
  '',
  'x',
  '-1',
  '1.5',
  '1e3',
  '0x1',
  String(least - 1),
  String(most + 1),
]
const SECONDS = wholeNumbers(1, 86_400)
const SECONDS_OR_NONE = wholeNumbers(0, 86_400)
/** Texts that each setting refuses, by the kind of its value. Of what may be any text, such as a folder, only the length is bounded. */
export const REFUSED_TEXTS: Readonly<Record<keyof typeof settings, readonly string[]>> = {
  dataDir: [TOO_LONG],
  from: [TOO_LONG],
  hashSalt: [TOO_LONG],
  store: STORES,
  storeReplicas: [...STORES, 'postgres://a/d mysql://u:p@host/d'],
  create: SWITCHES,
  verify: SWITCHES,
  assumeEmptyBase: SWITCHES,
  json: SWITCHES,
  bcs: SWITCHES,
  explorer: SWITCHES,
  listen: [...ADDRESSES, 'off'],
  adminListen: [...ADDRESSES, 'on'],
  serveFeed: [...ADDRESSES, 'off'],
  follow: URLS,
  replicaOf: URLS,
  archivalEndpoint: [...URLS, 'http://node.example'],
  followHeader: [
    '',
    'x',
    ': x',
    'a: b\nc: d',
    'Host: x',
    'Connection: close',
    'Content-Length: 5',
    '@/nowhere',
    `A: ${TOO_LONG}`,
  ],
  headerWord: ['', 'a b', '-a', 'a_b', 'ä', TOO_LONG],
  compatibleHeaders: SWITCHES,
  waypoints: ['', '0', '0:abc', `x:${'0'.repeat(64)}`],
  unsigned: SWITCHES,
  retain: ['', '0', '-1', '1.5', 'x', '18446744073709551616'],
  maxLag: wholeNumbers(1, 2 ** 32),
  chainId: wholeNumbers(0, 255),
  readers: wholeNumbers(1, 256),
  bodyLimit: wholeNumbers(1_024, 2 ** 30),
  maxConnections: wholeNumbers(1, 1_000_000),
  maxRequestsInFlight: wholeNumbers(1, 1_000_000),
  maxUploads: wholeNumbers(1, 1_000_000),
  maxUploadBytes: wholeNumbers(1_024, 2 ** 40),
  maxAnswerBytes: wholeNumbers(1_024, 2 ** 40),
  requestTimeout: SECONDS,
  idleTimeout: SECONDS,
  drainDelay: SECONDS_OR_NONE,
  stopTimeout: SECONDS_OR_NONE,
  logLevel: ['', 'loud', 'INFO'],
  logFormat: ['', 'xml'],
}
