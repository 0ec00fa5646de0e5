// A stand-in for the backup service of a node, with the endpoints of the reference. It serves a made-up chain, or the
// data of a test.
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ByteWriter } from '@ledger-state/core'
import { hashList, type SyntheticChain } from './synthetic-chain.ts'
import { signedLedgerInfo } from './synthetic-epochs.ts'

export interface BackupService {
  readonly url: string
  readonly paths: string[]
  /**
   * Chooses a handler that answers a request instead of the service; undefined for none. `before` is the number of
   * earlier requests for the path.
   */
  faultOf: (path: string, before: number) => ((response: ServerResponse, body: Buffer) => void) | undefined
  /** Oldest version with transactions in the node, and oldest version with a state. */
  oldest: number
  oldestState: number
  close(): Promise<void>
}

/**
 * The body of an answer by the endpoint and the words after it, or a status. Undefined if the node does not have the
 * data of its stream: the body then ends abruptly.
 */
export type AnswerOfService = (
  endpoint: string,
  words: readonly string[],
  held: Pick<BackupService, 'oldest' | 'oldestState'>,
) => Buffer | undefined | 404 | 500

export async function startBackupService(chain: SyntheticChain, format: 'V0' | 'V1' = 'V1'): Promise<BackupService> {
  const endings = chain.endings().map(signedLedgerInfo)

  const answer: AnswerOfService = (endpoint, words, { oldest, oldestState }) => {
    const [a = 0, b = 0, c = 0] = words.map(Number)
    if (endpoint.startsWith('state_') && a < oldestState) return endpoint === 'state_snapshot_chunk' ? undefined : 500
    switch (endpoint) {
      case 'db_state':
        return nodeState(chain.epoch, chain.latestVersion)
      case 'epoch_ending_ledger_infos':
        return framed(endings.slice(a, b))
      case 'transactions':
        return a < oldest ? undefined : framed(chain.records.slice(a, a + b).map((_, at) => record(a + at)))
      case 'transaction_range_proof': {
        const { left, right } = chain.rangeSiblings(a, b)
        return Buffer.concat([hashList(left), hashList(right), chain.ledgerInfo()])
      }
      case 'state_item_count':
        return Buffer.from(new ByteWriter().u64(BigInt(chain.stateLeaves(a).length)).toBytes())
      case 'state_snapshot_chunk': {
        const leaves = chain.stateLeaves(a).slice(b, b + c)
        return framed(leaves.map(({ bcsKey, stateValue }) => Buffer.concat([bcsKey, stateValue])))
      }
      case 'state_range_proof': {
        const at = chain.stateLeaves(a).findIndex(({ keyHash }) => keyHash.toString('hex') === words[1])
        return hashList(chain.stateRightSiblings(a, at))
      }
      case 'state_root_proof':
        return Buffer.concat([hashList(chain.versionSiblings(a)), chain.records[a]!.info, chain.ledgerInfo()])
      default:
        return 404
    }
  }

  function record(version: number): Buffer {
    const { transaction, info, events, writeSet } = chain.records[version]!
    const auxiliary = format === 'V0' ? [] : version % 3 === 0 ? [0] : [1 + (version % 2), 5, 0, 0, 0]
    return Buffer.concat([transaction, Uint8Array.from(auxiliary), info, events, writeSet])
  }

  return await serveBackup(answer)
}

/** Answer of `db_state`. */
export function nodeState(epoch: bigint, version: bigint): Buffer {
  return Buffer.from(new ByteWriter().u8(1).u64(epoch).u64(version).toBytes())
}

export async function serveBackup(answer: AnswerOfService): Promise<BackupService> {
  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = request.url!
    const before = counts.get(path) ?? 0
    counts.set(path, before + 1)
    service.paths.push(path)
    const [endpoint, ...words] = path.slice(1).split('/')
    const body = answer(endpoint!, words, service)
    if (typeof body === 'number') return response.writeHead(body).end()
    const fault = service.faultOf(path, before)
    if (fault) return fault(response, body ?? Buffer.alloc(0))
    // The reference streams without sending a length.
    response.writeHead(200, { 'transfer-encoding': 'chunked' })
    if (body) return response.end(body)
    response.flushHeaders()
    response.socket!.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const service: BackupService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths: [],
    faultOf: () => undefined,
    oldest: 0,
    oldestState: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return service
}

export function framed(records: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    records.flatMap((bytes) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}
