// A node's REST API over a ledger made for the bench, in a separate process. Arguments: setting of the keys, versions,
// milliseconds of each answer, most versions of a page. Sends its port to its parent. All items are in one buffer and a
// page is a part of it, so that the process costs little CPU compared with the measured work.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ByteWriter } from '@ledger-state/core'
import type { KeyReturns } from '../workload/chain/key-population.ts'
import { type CommittedVersion, createMainnetLikeLedger } from './mainnet-like-ledger.ts'

const [returns, ...numbers] = process.argv.slice(2) as [KeyReturns, ...string[]]
const [versions, latencyMs, maxPage] = numbers.map(Number) as [number, number, number]
const ledger = createMainnetLikeLedger(versions, returns)
const items = ledger.versions.map(encodeItem)
const latest = items.length - 1
const ends = new Float64Array(items.length)
items.reduce((end, item, version) => {
  ends[version] = end + item.length
  return ends[version]!
}, 0)
const bytes = Buffer.concat(items)

function encodeItem({ transaction, info, events, accumulatorRoot, writeSet }: CommittedVersion, version: number) {
  const writer = new ByteWriter().u64(BigInt(version)).bytes(transaction).bytes(info).bytes(events)
  return writer.bytes(accumulatorRoot).bytes(writeSet).toBytes()
}

/** Reply in two parts; the second is not copied. */
interface NodeReply {
  readonly type: string
  readonly status: number
  readonly head: Uint8Array
  readonly rest: Uint8Array
}

function answer(url: URL): NodeReply {
  const json = (status: number, value: object): NodeReply => {
    return { type: 'application/json', status, head: Buffer.from(JSON.stringify(value)), rest: Buffer.alloc(0) }
  }
  if (url.pathname === '/v1') return json(200, { chain_id: ledger.chainId, ledger_version: String(latest) })
  const start = Number(url.searchParams.get('start'))
  if (start > latest) return json(404, { message: 'not there yet', error_code: 'version_not_found' })
  const count = Math.min(maxPage, Number(url.searchParams.get('limit')), items.length - start)
  const head = new ByteWriter().uleb128(count).toBytes()
  const rest = bytes.subarray(start === 0 ? 0 : ends[start - 1], ends[start + count - 1])
  return { type: 'application/x-bcs', status: 200, head, rest }
}

const server = createServer((request, response) => {
  const { type, status, head, rest } = answer(new URL(request.url!, 'http://node'))
  response.writeHead(status, {
    'content-type': type,
    'content-length': head.length + rest.length,
    'x-aptos-chain-id': ledger.chainId,
    'x-aptos-ledger-version': latest,
  })
  const send = (): void => {
    response.write(head)
    response.end(rest)
  }
  if (latencyMs > 0) setTimeout(send, latencyMs)
  else send()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
process.on('disconnect', () => process.exit())
process.send!((server.address() as AddressInfo).port)
