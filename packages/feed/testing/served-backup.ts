// A stand-in for the backup service of a node over a backup in a folder. It makes proofs for any range of the versions
// of the backup's one chunk.
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ByteReader } from '@ledger-state/core'
import { LedgerHasher, readHashes, readLedgerInfo } from '@ledger-state/proof'
import { readTransactionRecord } from '../src/proof/transaction-record.js'
import { type BackupService, framed, nodeState, serveBackup } from './backup-service.ts'
import { hashList } from './synthetic-chain.ts'

const TREE = 'TransactionAccumulator'

export interface ServedRange {
  readonly chunk: string
  readonly proof: string
  readonly first: number
  readonly last: number
}

/**
 * Serves epoch changes, one a folder, and the versions of one chunk. All versions before the chunk count as pruned,
 * and so do all states. The node's newest version is the last of the chunk.
 * @param epochs the backup folder with the epoch changes
 * @param served number of ends that the node has; by default all before the epoch of the chunk's ledger info
 */
export async function serveFolder(
  epochs: string,
  range: ServedRange,
  salt: string,
  served?: number,
): Promise<BackupService> {
  const hasher = new LedgerHasher(salt)
  const records = unframed(gunzipSync(readFileSync(range.chunk)))
  const infoOf = (record: Buffer) => readTransactionRecord(new ByteReader(record), hasher, false).infoBytes
  const leaves = records.map((record) => hasher.hash('TransactionInfo', infoOf(record)))
  const proof = new ByteReader(gunzipSync(readFileSync(range.proof)))
  const siblings = { left: readHashes(proof), right: readHashes(proof) }
  const ledgerInfo = proof.readBytes(proof.remaining)
  const ledger = readLedgerInfo(new ByteReader(ledgerInfo))
  const tree = new PartOfTree(hasher, leaves, range, siblings, Number(ledger.version) + 1)
  const endings = endingsOf(epochs).slice(0, served ?? Number(ledger.epoch))
  const service = await serveBackup((endpoint, words, { oldest }) => {
    const [a = 0, b = 0] = words.map(Number)
    switch (endpoint) {
      case 'db_state':
        return nodeState(BigInt(endings.length), BigInt(range.last))
      case 'epoch_ending_ledger_infos':
        return framed(endings.slice(a, b))
      case 'transactions':
        return a < oldest ? undefined : framed(records.slice(a - range.first, a - range.first + b))
      case 'transaction_range_proof': {
        const { left, right } = tree.siblings(a, b)
        return Buffer.concat([hashList(left), hashList(right), ledgerInfo])
      }
      case 'state_item_count':
        return 500
      default:
        return 404
    }
  })
  service.oldest = range.first
  return service
}

/** The known nodes of an accumulator: they follow from a range of its leaves and the siblings that prove them. */
class PartOfTree {
  readonly #hasher: LedgerHasher
  readonly #levels: number
  readonly #known = new Map<string, Uint8Array>()

  constructor(
    hasher: LedgerHasher,
    leaves: readonly Uint8Array[],
    { first, last }: ServedRange,
    siblings: { readonly left: readonly Uint8Array[]; readonly right: readonly Uint8Array[] },
    count: number,
  ) {
    this.#hasher = hasher
    this.#levels = Math.ceil(Math.log2(count))
    for (const [at, leaf] of leaves.entries()) this.#known.set(`0 ${first + at}`, leaf)
    const [left, right] = [[...siblings.left], [...siblings.right]]
    for (let level = 0; level < this.#levels; level++) {
      const [from, to] = [first >> level, last >> level]
      if (from % 2 === 1) this.#known.set(`${level} ${from - 1}`, left.shift()!)
      if (to % 2 === 0) this.#known.set(`${level} ${to + 1}`, right.shift()!)
    }
  }

  siblings(first: number, last: number): { readonly left: Buffer[]; readonly right: Buffer[] } {
    const [left, right]: [Buffer[], Buffer[]] = [[], []]
    for (let level = 0; level < this.#levels; level++) {
      const [from, to] = [first >> level, last >> level]
      if (from % 2 === 1) left.push(Buffer.from(this.#node(level, from - 1)))
      if (to % 2 === 0) right.push(Buffer.from(this.#node(level, to + 1)))
    }
    return { left, right }
  }

  #node(level: number, index: number): Uint8Array {
    const known = this.#known.get(`${level} ${index}`)
    if (known) return known
    if (level === 0) throw new Error(`nothing is known of version ${index}`)
    const node = this.#hasher.hashPair(TREE, this.#node(level - 1, 2 * index), this.#node(level - 1, 2 * index + 1))
    this.#known.set(`${level} ${index}`, node)
    return node
  }
}

/** The epoch changes of a backup that has one folder for each, starting at epoch 0. */
function endingsOf(root: string): Buffer[] {
  const epochOf = (name: string) => Number(/^epoch_ending_(\d+)-/.exec(name)![1])
  const folders = readdirSync(root).filter((name) => name.startsWith('epoch_ending_'))
  const inOrder = folders.sort((a, b) => epochOf(a) - epochOf(b))
  return inOrder.flatMap((name) => unframed(gunzipSync(readFileSync(join(root, name, `${epochOf(name)}-.chunk.gz`)))))
}

function unframed(bytes: Buffer): Buffer[] {
  const records: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    records.push(bytes.subarray(at + 4, end))
    at = end
  }
  return records
}
