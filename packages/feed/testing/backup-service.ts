// The backup service of a node over a made-up chain, by the endpoints of the reference.
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
  /** Gives an answer in its own way, and returns true. `before`: how often the path was asked for already. */
  faultOf: (path: string, before: number) => ((response: ServerResponse, body: Buffer) => void) | undefined
  /** Oldest version whose transactions the node has. */
  oldest: number
  close(): Promise<void>
}

export async function startBackupService(chain: SyntheticChain, format: 'V0' | 'V1' = 'V1'): Promise<BackupService> {
  const endings = chain.endings().map(signedLedgerInfo)

  /** Undefined where the node does not have it: the body then ends abruptly. */
  function bodyOf(path: string): Buffer | undefined | 404 {
    const [endpoint, ...words] = path.slice(1).split('/')
    const [a = 0, b = 0, c = 0] = words.map(Number)
    const writer = new ByteWriter()
    switch (endpoint) {
      case 'db_state':
        return Buffer.from(writer.u8(1).u64(chain.epoch).u64(chain.latestVersion).toBytes())
      case 'epoch_ending_ledger_infos':
        return framed(endings.slice(a, b))
      case 'transactions':
        return a < service.oldest ? undefined : framed(chain.records.slice(a, a + b).map((_, at) => record(a + at)))
      case 'transaction_range_proof': {
        const { left, right } = chain.rangeSiblings(a, b)
        return Buffer.concat([hashList(left), hashList(right), chain.ledgerInfo()])
      }
      case 'state_item_count':
        return Buffer.from(writer.u64(BigInt(chain.stateLeaves(a).length)).toBytes())
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

  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = request.url!
    const before = counts.get(path) ?? 0
    counts.set(path, before + 1)
    service.paths.push(path)
    const body = bodyOf(path)
    if (body === 404) return response.writeHead(404).end()
    const fault = service.faultOf(path, before)
    if (fault) return fault(response, body ?? Buffer.alloc(0))
    // The reference streams without a length.
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
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return service
}

function framed(records: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    records.flatMap((bytes) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}
