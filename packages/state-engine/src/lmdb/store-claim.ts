import { Buffer } from 'node:buffer'
import { createHash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { openRecord } from '../bytes/record.js'
import { storeLocked } from '../errors.js'
import { type DatabaseRoot, DataPages, FileTooShort, PageFault } from './data-pages.js'
import { PageSet } from './page-set.js'
import { checkDatabaseList, databaseTree } from './store-trees.js'
import { checkTree } from './tree-check.js'

// The locks of files are POSIX locks: a process that opens the lock file of its store a second time and closes it,
// because it copies the folder, loses them. So on Linux a writer also holds a name of the system, by an abstract
// socket, which only the end of the process, or closing the store, gives up. The name is made of the store's id, which
// only its readers know.

export const STORE_ID_KEY = Buffer.from('store-id')

/**
 * Claims a store for this process. Returns a function that gives it up. Does nothing on systems without such names.
 * @throws `store_locked` if another writer has it
 */
export function claimStore(folder: string, storeId: bigint): () => void {
  if (process.platform !== 'linux') return () => {}
  const { dev, ino } = statSync(folder, { bigint: true })
  const server = listenOn(createHash('sha256').update(`${storeId} ${dev} ${ino}`).digest('hex'))
  if (!server.listening) {
    // Perhaps this process may not listen on any name.
    const other = listenOn(randomUUID())
    const mayListen = other.listening
    other.close()
    if (mayListen) throw storeLocked(folder, undefined)
  }
  return () => {
    server.close()
  }
}

/** Begins to listen, at once. */
function listenOn(name: string): Server {
  const server = createServer((socket) => socket.destroy())
  server.on('error', () => {})
  server.listen({ path: `\0ledger-state ${name}`, exclusive: true })
  return server.unref()
}

/** Reads the id of a store without LMDB, which would reset a lock file that nobody has locked. Undefined if it cannot. */
export function readStoreId(file: string): bigint | undefined {
  const pages = new DataPages(file)
  try {
    const meta = pages.readNewestMeta()
    const place = { pages, meta, used: new PageSet(meta.lastPage) }
    const databases = new Map<string, DatabaseRoot>()
    for (const _ of checkDatabaseList(place, (name, root) => databases.set(name, root)));
    const root = databases.get('meta')
    let record: Buffer | undefined
    if (!root) return undefined
    const tree = databaseTree('meta', root)
    for (const _ of checkTree(place, {
      ...tree,
      onEntry: ({ key, data }) => {
        if (key.equals(STORE_ID_KEY)) record = Buffer.from(data)
      },
    }));
    return record && openRecord(record, 0, () => 'the id of the store').readBigUInt64BE()
  } catch (error) {
    if (error instanceof PageFault || error instanceof FileTooShort) return undefined
    throw error
  } finally {
    pages.close()
  }
}
