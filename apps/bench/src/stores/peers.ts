import { openPostgres } from './postgres.ts'
import { openSeekLevel } from './seek-level.ts'
import { openSeekLmdb } from './seek-lmdb.ts'
import { openSeekRocks } from './seek-rocks.ts'
import { openSqlite } from './sqlite.ts'
import type { Store } from './store.ts'

export type PeerName = 'seek-lmdb' | 'seek-rocks' | 'seek-level' | 'sqlite' | 'postgres'

interface Peer {
  /** Name of the peer's store. */
  readonly title: string
  /**
   * Whether several processes can open the store. LevelDB and RocksDB lock their files, and only PostgreSQL's server
   * opens its files.
   */
  readonly isShared: boolean
  readonly open: (path: string) => Store | Promise<Store>
}

/** The peers of the lookup suite, by the names of their folders. */
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
