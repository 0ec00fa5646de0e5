import { verifyBalance, verifyResource, verifyTableItem, verifyView } from '@ledger-state/light-client'

// The address of the page names the node and the waypoint: `?url=…&waypoint=…`.
const parameters = new URLSearchParams(location.search)
const node = { url: parameters.get('url') ?? '', waypoint: parameters.get('waypoint') ?? '' }
const OWNER = '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'

const lines: string[] = []
try {
  const { balance, signers } = await verifyBalance({ ...node, address: OWNER, asset: '0x1::aptos_coin::AptosCoin' })
  lines.push(`balance: ${balance}, believed ${signers.power ? 'by signatures' : 'by the waypoint itself'}`)
  const resource = await verifyResource({ ...node, address: '0xcafe', type: '0xcafe::harbour::Berths' })
  lines.push(`resource: ${resource.json}`)
  const table = { handle: '0x7ab1e3', keyType: 'u64', valueType: 'u64' }
  const item = await verifyTableItem({ ...node, ...table, key: '5' })
  lines.push(`table item: ${item.json}`)
  const call = { function: '0xcafe::harbour::ships_at', arguments: ['0xcafe'] }
  const { results, provenCount } = await verifyView({ ...node, ...call })
  lines.push(`view, computed here from ${provenCount} proven values: ${results[0]?.json}`)
} catch (error) {
  lines.push(`not believed: ${(error as Error).message}`)
}
document.querySelector('#facts')!.textContent = lines.join('\n')
