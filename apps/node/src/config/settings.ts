import { availableParallelism } from 'node:os'
import { parseAddress } from '@ledger-state/core'
import { toRemoteUrl } from '@ledger-state/feed/remote-url'
import { DEFAULT_LIMITS } from '@ledger-state/http/limits'
import { parseTypePattern } from '@ledger-state/slices'
import { usageError } from '../errors.js'
import { parseFollowHeaders } from './follow-headers.js'
import { forwardRule } from './forward-settings.js'
import { limitSettings } from './limit-settings.js'
import { findNetwork } from './network.js'
import {
  atOnce,
  defaultedOption,
  inGroup,
  listOption,
  type Option,
  oneOf,
  option,
  parseWhole,
  switchOption,
  textOption,
  wholeNumber,
} from './option.js'
import { seconds, secondsText } from './seconds.js'
import { splitTypes } from './split-types.js'
import { parseTransactionIndexes } from './transaction-indexes.js'
import { parseViewBudget, parseViewFilter } from './view-settings.js'
import { parseWindowBound } from './window-bound.js'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

function parseListenAddress(text: string): ListenAddress {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (!parts || port > 65_535)
    throw usageError(`${JSON.stringify(text)} is not a HOST:PORT such as 127.0.0.1:8080 or [::1]:8080`)
  return { host: (parts[1] ?? parts[2])!, port }
}

function matching(pattern: RegExp, what: string): (text: string) => string {
  return (text) => {
    if (!pattern.test(text)) throw usageError(`${JSON.stringify(text)} is not ${what}`)
    return text
  }
}

function parseWindow(text: string): bigint {
  const versions = parseWhole(text)
  if (versions === 0n) throw usageError('a window holds at least 1 version')
  return versions
}

/**
 * Returns a parser for a URL to which requests are sent. A user name or password in it is refused, before the URL is
 * quoted.
 */
function remoteUrl(pattern: RegExp, what: string): (text: string) => string {
  const expectKind = matching(pattern, what)
  return (text) => {
    if (/^[a-z]+:\/*[^/?#]*@/i.test(text)) {
      throw usageError(
        'the URL contains a user name or password, but requests cannot send them; use follow-header or forward-header',
      )
    }
    return toRemoteUrl(expectKind(text))
  }
}

const parseHeaderWord = (text: string): string =>
  matching(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'a word of letters, digits and hyphens')(text.toLowerCase())

/** Parses the URL of a store. Errors do not quote it, because it may have a password. */
function parseStoreUrl(text: string): string {
  if (!URL.canParse(text)) throw usageError('the value is not a URL such as postgres://user@host/database')
  const { protocol, pathname } = new URL(text)
  if (protocol !== 'postgres:' && protocol !== 'postgresql:')
    throw usageError(
      `a URL with ${JSON.stringify(protocol)} does not name a store; expected postgres://user@host/database`,
    )
  if (pathname.length < 2) throw usageError('the URL does not name a database; expected postgres://user@host/database')
  return text
}

const LEAST_READERS = 1
const MOST_READERS = 256

/** Default number of readers, which leaves one core to the writer and the system. */
function defaultReaders(): number {
  return Math.max(LEAST_READERS, availableParallelism() - 1)
}

/** Checks that a text is an address, and returns the text. */
function addressText(text: string): string {
  parseAddress(text)
  return text
}

/** Checks that a text has patterns of types, and returns them as texts. */
function typePatterns(text: string): readonly string[] {
  const patterns = splitTypes(text)
  for (const pattern of patterns) parseTypePattern(pattern)
  return patterns
}

/**
 * Every setting of a node, given on the command line (`--NAME`), in the environment (`LEDGER_STATE_NAME`) or in a JSON
 * file (`"NAME"`), in this order of precedence. Help, `config --print`, `config --schema` and the check for unknown
 * names all read this list.
 */
export const settings = {
  ...inGroup('Store', {
    dataDir: textOption('data-dir', 'DIR', 'folder of the store'),
    store: {
      name: 'store',
      value: 'URL',
      description: 'store on PostgreSQL instead of --data-dir: postgres://USER@HOST/DATABASE; never logged or printed',
      isSecret: true,
      parse: parseStoreUrl,
    } satisfies Option<string>,
    storeReplicas: {
      name: 'store-replicas',
      value: 'URLS',
      description: 'streaming replicas of --store for reads, separated by spaces; never logged or printed',
      isSecret: true,
      parse: (text) => text.trim().split(/\s+/).map(parseStoreUrl),
    } satisfies Option<readonly string[]>,
    create: switchOption('create', 'create an empty store if there is none'),
    retain: atOnce(
      option(
        'retain',
        'N',
        'keep a window of N versions, rounded up to whole blocks; prune older versions (default: keep all, except that start keeps 2000 of the demonstration ledger)',
        parseWindow,
      ),
    ),
    keepTransactions: option(
      'keep-transactions',
      'whole|summary|none',
      'parts of transactions to keep: everything, with events; hash, success, sender and entry function of transactions that write state; or nothing; by default a new store keeps everything that the source has, and other stores continue as they began',
      oneOf('whole', 'summary', 'none'),
    ),
    transactionIndexes: option(
      'transaction-indexes',
      'LIST',
      'indexes of whole transactions to keep, separated by commas: hash, sender, affected, event-key, event-type; or none (default: all); a store that has whole transactions keeps its indexes',
      parseTransactionIndexes,
    ),
    retainTransactions: atOnce(
      option(
        'retain-transactions',
        'N',
        'keep whole transactions and events of N versions, more than --retain, even after their state is pruned; applies to versions that are ingested later',
        parseWindow,
      ),
    ),
    holdings: defaultedOption(
      'holdings',
      'on|off',
      'index holdings, for balances, holders, tokens and activities; cannot be switched on for a store that has versions without the index (ledger-state index makes a copy that has it)',
      'on',
      oneOf('on', 'off'),
    ),
    compress: defaultedOption(
      'compress',
      'WHEN',
      'compress files that are seldom merged again: auto (once the files of the store exceed half of the memory), always or never',
      'auto',
      oneOf('auto', 'always', 'never'),
    ),
  }),
  ...inGroup('Source', {
    from: textOption(
      'from',
      'SOURCE',
      'source that start ingests into an empty store (default: the demonstration ledger)',
    ),
    network: atOnce(
      option(
        'network',
        'NAME|FILE',
        'network of the source: its chain id, hash salt and waypoints (see ledger-state networks; by default found by chain id)',
        findNetwork,
      ),
    ),
    since: option(
      'since',
      'VERSION|TIME',
      'ingest a backup from its newest state at or before a version, a date (2026-10-01) or a time ago (30d)',
      (text) => parseWindowBound(text),
    ),
    fromNode: option(
      'from-node',
      'URL',
      'use the backup that another node serves with --serve-backup instead of the network backups: its --serve-feed address',
      remoteUrl(/^https?:\/\/[^?#]+$/, 'the URL of a node, such as http://node-a:8090'),
    ),
    backupInterval: defaultedOption(
      'backup-interval',
      'SECONDS',
      'interval at which a node that was started with --network and --since checks the backup for new signatures',
      '3600',
      seconds(1),
    ),
    keepChunks: textOption(
      'keep-chunks',
      'DIR',
      'keep the fetched part of a backup in a folder, as a backup that other nodes can ingest',
    ),
    checkDisk: switchOption(
      'check-disk',
      'refuse to begin with --since if the forecast exceeds the free disk space',
      true,
    ),
    followHeader: {
      name: 'follow-header',
      value: 'HEADER',
      description:
        'header of each request to a node or a bucket: NAME: VALUE, or @FILE with one per line; never logged or printed',
      isSecret: true,
      appliesAtOnce: true,
      parse: parseFollowHeaders,
    } satisfies Option<Readonly<Record<string, string>>>,
    chainId: option('chain-id', 'N', 'chain id, for a source that does not contain it', wholeNumber(0, 255)),
    assumeEmptyBase: switchOption(
      'assume-empty-base',
      'let an empty store begin at a version above 0 and treat everything written before as absent',
    ),
  }),
  ...inGroup('Slice', {
    only: textOption(
      'only',
      'FILE',
      'keep only a slice of the ledger: a file with an address, "table" and a handle, or a type on each line (docs/slices.md)',
    ),
    onlyAccount: listOption(
      'only-account',
      'ADDRESS',
      'keep this account in a slice, with everything that belongs to it',
      addressText,
    ),
    onlyTable: listOption('only-table', 'HANDLE', 'keep the items of this table in a slice', addressText),
    onlyType: {
      name: 'only-type',
      value: 'TYPE',
      description:
        'keep resources of this type in a slice, at any address: 0x1::module::Name, 0x1::module::* or 0x1::*',
      isList: true,
      parse: typePatterns,
    } satisfies Option<readonly string[]>,
  }),
  ...inGroup('Trust', {
    waypoints: listOption(
      'waypoint',
      'V:HASH',
      'trusted waypoint of the ledger: its validators must have signed the source (known for mainnet, testnet and devnet)',
      matching(/^\d+:[0-9a-f]{64}$/, 'VERSION:HASH, with a hash of 64 hex digits'),
    ),
    unsigned: switchOption('unsigned', 'ingest a source without verifying the signatures of validators'),
    requireSigned: switchOption('require-signed', 'serve nothing above the newest version that validators signed'),
    hashSalt: atOnce(
      textOption(
        'hash-salt',
        'SALT',
        'prefix of the names of hashes (default: the prefix in the store, or APTOS::; a fork may use another)',
      ),
    ),
    verify: atOnce(switchOption('verify', 'verify hashes and proofs', true)),
    checkStateRoot: switchOption(
      'check-state-root',
      'compare the root of the stored state with the state root of the ledger after a state snapshot',
      true,
    ),
    checkpointTrees: defaultedOption(
      'checkpoint-trees',
      'N|auto',
      'number of signed checkpoints to keep a tree of, for proofs; auto: the newest one, if its tree needs less than a tenth of the disk',
      'auto',
      (text) => (text === 'auto' ? text : wholeNumber(0, 100)(text)),
    ),
    audit: switchOption(
      'audit',
      'compute the state root of each block that the writer has committed, and compare it with the root in the ledger',
    ),
    auditShare: defaultedOption(
      'audit-share',
      'PERCENT',
      'share of one core that the audit takes',
      '25',
      wholeNumber(1, 100),
    ),
    proofsBudget: option(
      'proofs-budget',
      'PERCENT',
      'with an audit, disk space for proofs at the ends of blocks, in percent of the size of the store; 0 for none; by default the value of the last audit',
      wholeNumber(0, 1_000),
    ),
    auditReadiness: switchOption('audit-readiness', 'make the node unready if an audit finds a wrong state'),
    treeDir: textOption('tree-dir', 'DIR', 'folder of these trees; by default the folder of the store'),
  }),
  ...inGroup('Following and replicas', {
    follow: atOnce(
      option(
        'follow',
        'URL',
        'ingest the next versions from a node (…/v1), or from the feed of another Ledger State node, in a separate process',
        remoteUrl(/^https?:\/\/./, 'the URL of a node, such as https://node.example/v1'),
      ),
    ),
    replicaOf: atOnce(
      option(
        'replica-of',
        'URL',
        'be a replica of another node: its --serve-feed address. An empty folder begins with a snapshot of its store',
        remoteUrl(/^https?:\/\/./, 'the URL of a feed, such as http://node-a:8090'),
      ),
    ),
    serveFeed: option(
      'serve-feed',
      'HOST:PORT',
      'address that serves the whole store to replicas; do not expose it to the public',
      parseListenAddress,
    ),
    serveBackup: textOption(
      'serve-backup',
      'DIR',
      'serve the backup in a folder, such as the --keep-chunks folder, below /backup of the --serve-feed address',
    ),
    maxLag: atOnce(
      option(
        'max-lag',
        'SECONDS',
        'answer /-/ready with 503 if the newest block is older than this (default: no limit)',
        (text) => wholeNumber(1, 2 ** 32)(text) * 1_000,
      ),
    ),
  }),
  ...inGroup('Service', {
    listen: defaultedOption(
      'listen',
      'HOST:PORT',
      'address to serve on; port 0 picks a free port',
      '127.0.0.1:8080',
      parseListenAddress,
    ),
    adminListen: defaultedOption(
      'admin-listen',
      'HOST:PORT',
      'address of metrics and probes, or "off"; do not expose it to the public',
      '127.0.0.1:9180',
      (text) => (text === 'off' ? undefined : parseListenAddress(text)),
    ),
    readers: defaultedOption(
      'readers',
      'N',
      'processes that answer requests; by default one less than the number of cores',
      String(defaultReaders()),
      wholeNumber(LEAST_READERS, MOST_READERS),
    ),
    explorer: switchOption('explorer', 'serve a web page at / that shows the ledger', true),
    json: switchOption('json', 'answer in JSON', true),
    bcs: switchOption('bcs', 'answer in BCS', true),
    headerWord: defaultedOption(
      'header-word',
      'WORD',
      'word in the chain-state headers x-WORD-…',
      'svc',
      parseHeaderWord,
    ),
    compatibleHeaders: switchOption(
      'compatible-headers',
      'send the chain-state headers and the cursor also as x-aptos-…, which published clients read',
      true,
    ),
    leastGasEstimate: defaultedOption(
      'least-gas-estimate',
      'PRICE',
      'lowest gas unit price that estimate_gas_price returns, even if the ledger allows a lower price',
      '0',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    ),
    archivalEndpoint: option(
      'archival-endpoint',
      'URL',
      'URL of a service, ending in /v1, that has the versions pruned here; errors name it',
      remoteUrl(/^https?:\/\/[^/?#]+(\/[^?#]*)?\/v1$/, 'an absolute URL that ends in /v1'),
    ),
  }),
  ...inGroup('Views', {
    views: switchOption('views', 'run view functions', true),
    viewFilter: option(
      'view-filter',
      'FILTER',
      'allow:NAME[,NAME…] runs only the named view functions, block:… all except these; a name is an address, a module or a function',
      parseViewFilter,
    ),
    viewBudget: option(
      'view-budget',
      'NAME=NUMBER[,…]',
      'budget of the views of one request: instructions, bytes, reads, readBytes, modules, moduleBytes',
      parseViewBudget,
    ),
  }),
  ...inGroup('Forwarding', {
    forward: listOption(
      'forward',
      '[KIND=]URL',
      'URL of a fullnode, ending in /v1, for requests that this node does not answer: gas prices, submission, simulation, transactions, events, blocks with transactions; KIND names one of gas, submit, simulate, transactions, events, blocks, state',
      forwardRule(remoteUrl(/^https?:\/\/[^/?#]+(\/[^?#]*)?\/v1$/, 'an absolute URL that ends in /v1')),
    ),
    forwardPruned: switchOption('forward-pruned', 'also forward reads of state at versions that are pruned here'),
    forwardHeader: {
      name: 'forward-header',
      value: 'HEADER',
      description:
        'header of each request to the nodes of --forward: NAME: VALUE, or @FILE with one per line; never logged or printed',
      isSecret: true,
      parse: parseFollowHeaders,
    } satisfies Option<Readonly<Record<string, string>>>,
  }),
  ...limitSettings,
  ...inGroup('Limits', {
    drainDelay: defaultedOption(
      'drain-delay',
      'SECONDS',
      'time that a stopping node still accepts requests while /-/ready answers 503',
      '0',
      seconds(0),
    ),
    stopTimeout: defaultedOption(
      'stop-timeout',
      'SECONDS',
      'time limit for requests in progress when the node stops',
      secondsText(DEFAULT_LIMITS.drainTimeoutMs),
      seconds(0),
    ),
  }),
  ...inGroup('Log', {
    logLevel: defaultedOption(
      'log-level',
      'LEVEL',
      'trace, debug (with a line for each request), info, warn, error or silent',
      'info',
      oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    ),
    logFormat: defaultedOption(
      'log-format',
      'FORMAT',
      'json (one object per line), text, or auto: text on a terminal, else json',
      'auto',
      oneOf('json', 'text', 'auto'),
    ),
  }),
} satisfies Record<string, Option<unknown>>

/** Option that names the JSON file, which cannot be a member of that file. */
export const configOption = textOption('config', 'FILE', 'JSON file of settings; see ledger-state config --help')

const proofSettings = [settings.network, settings.hashSalt, settings.verify]

/** Settings of a slice. */
const sliceSettings = [settings.only, settings.onlyAccount, settings.onlyTable, settings.onlyType]

export const ingestSettings = [
  ...sliceSettings,
  settings.retain,
  settings.since,
  settings.fromNode,
  settings.keepChunks,
  settings.checkDisk,
  settings.followHeader,
  ...proofSettings,
  settings.waypoints,
  settings.unsigned,
  settings.checkStateRoot,
  settings.checkpointTrees,
  settings.treeDir,
  settings.assumeEmptyBase,
  settings.chainId,
  settings.keepTransactions,
  settings.transactionIndexes,
  settings.retainTransactions,
  settings.holdings,
  settings.compress,
]

/** Settings of a node, whether `serve` or `start` runs it. */
export const nodeOptions = [
  settings.storeReplicas,
  settings.listen,
  settings.adminListen,
  settings.readers,
  settings.headerWord,
  settings.compatibleHeaders,
  settings.leastGasEstimate,
  settings.retain,
  settings.archivalEndpoint,
  settings.forward,
  settings.forwardPruned,
  settings.forwardHeader,
  settings.follow,
  ...sliceSettings,
  settings.replicaOf,
  settings.serveFeed,
  settings.serveBackup,
  settings.followHeader,
  settings.keepTransactions,
  settings.transactionIndexes,
  settings.retainTransactions,
  settings.holdings,
  settings.compress,
  settings.maxLag,
  ...proofSettings,
  settings.json,
  settings.bcs,
  settings.explorer,
  ...Object.values(limitSettings),
  settings.requireSigned,
  settings.checkpointTrees,
  settings.treeDir,
  settings.audit,
  settings.auditShare,
  settings.proofsBudget,
  settings.auditReadiness,
  settings.views,
  settings.viewFilter,
  settings.viewBudget,
  settings.drainDelay,
  settings.stopTimeout,
  settings.logLevel,
  settings.logFormat,
]
