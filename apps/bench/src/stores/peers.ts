import { openPostgres } from './postgres.js'
import { openSeekLevel } from './seek-level.js'
import { openSeekLmdb } from './seek-lmdb.js'
import { openSeekRocks } from './seek-rocks.js'
import { openSqlite } from './sqlite.js'
import type { Store } from './store.js'

export type PeerName = 'seek-lmdb' | 'seek-rocks' | 'seek-level' | 'sqlite' | 'postgres'

interface Peer {
  /** That of its store. */
  readonly title: string
  /** Whether several processes can open it. LevelDB and RocksDB lock theirs, the files of PostgreSQL are its server's. */
  readonly isShared: boolean
  readonly open: (path: string) => Store | Promise<Store>
}

/** What lookup is measured beside, by the names of their folders. */
export const PEERS: Readonly<Record<PeerName, Peer>> = {
  'seek-lmdb': { title: 'key ++ version on lmdb', isShared: true, open: openSeekLmdb },
  'seek-rocks': { title: 'key ++ version on RocksDB', isShared: false, open: openSeekRocks },
  'seek-level': { title: 'key ++ version on LevelDB', isShared: false, open: openSeekLevel },
  sqlite: { title: 'SQLite', isShared: true, open: openSqlite },
  postgres: { title: 'PostgreSQL', isShared: false, open: openPostgres },
}

export const PEER_NAMES = Object.keys(PEERS) as PeerName[]

export function isPeerName(text: string): text is PeerName {
  return Object.hasOwn(PEERS, text)
}
