// A node's REST API over a ledger made for the bench, in a process of its own. Arguments: versions, milliseconds that each
// answer takes, most versions of a page. Sends its port to its parent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ByteWriter } from '@ledger-state/core'
import { createMainnetLikeLedger, type MainnetLikeVersion } from './mainnet-like-ledger.ts'

const [versions, latencyMs, maxPage] = process.argv.slice(2).map(Number) as [number, number, number]
const ledger = createMainnetLikeLedger(versions)
const items = ledger.versions.map(encodeItem)
const latest = items.length - 1

function encodeItem({ transaction, info, events, accumulatorRoot, writeSet }: MainnetLikeVersion, version: number) {
  const writer = new ByteWriter().u64(BigInt(version)).bytes(transaction).bytes(info).bytes(events)
  return writer.bytes(accumulatorRoot).bytes(writeSet).toBytes()
}

function answer(url: URL): { readonly type: string; readonly status: number; readonly body: Uint8Array } {
  const json = (status: number, value: object) => {
    return { type: 'application/json', status, body: Buffer.from(JSON.stringify(value)) }
  }
  if (url.pathname === '/v1') return json(200, { chain_id: ledger.chainId, ledger_version: String(latest) })
  const start = Number(url.searchParams.get('start'))
  if (start > latest) return json(404, { message: 'not there yet', error_code: 'version_not_found' })
  const page = items.slice(start, start + Math.min(maxPage, Number(url.searchParams.get('limit'))))
  const body = Buffer.concat([new ByteWriter().uleb128(page.length).toBytes(), ...page])
  return { type: 'application/x-bcs', status: 200, body }
}

const server = createServer((request, response) => {
  const { type, status, body } = answer(new URL(request.url!, 'http://node'))
  response.writeHead(status, {
    'content-type': type,
    'content-length': body.length,
    'x-aptos-chain-id': ledger.chainId,
    'x-aptos-ledger-version': latest,
  })
  if (latencyMs > 0) setTimeout(() => response.end(body), latencyMs)
  else response.end(body)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
process.on('disconnect', () => process.exit())
process.send!((server.address() as AddressInfo).port)
