import { verifyBalance, verifyResource, verifyTableItem, verifyView } from '@ledger-state/light-client'
import { HARBOUR, OWNER, startNode, TABLE } from './demonstration.ts'

const APT = '0x1::aptos_coin::AptosCoin'

const [url, waypoint, address] = process.argv.slice(2)
if (url !== undefined) {
  if (waypoint === undefined || address === undefined) throw new Error('expected URL WAYPOINT ADDRESS')
  await showBalance({ url, waypoint }, address)
} else {
  const node = await startNode()
  await showBalance(node, OWNER)
  const resource = await verifyResource({ ...node, address: HARBOUR, type: `${HARBOUR}::harbour::Berths` })
  console.log(`resource: ${resource.json}`)
  const table = { handle: TABLE, keyType: 'u64', valueType: 'u64' }
  for (const key of ['5', '6']) {
    const item = await verifyTableItem({ ...node, ...table, key })
    console.log(`table item ${key}: ${item.json ?? 'proven to be absent'}`)
  }
  const call = { function: `${HARBOUR}::harbour::ships_at`, arguments: [HARBOUR] }
  const { results, provenCount } = await verifyView({ ...node, ...call })
  console.log(`view, computed here from ${provenCount} proven values: ${results[0]?.json}`)
  // A waypoint of another ledger.
  const other = { ...node, waypoint: `0:${'0'.repeat(64)}` }
  await showBalance(other, OWNER).catch(({ code }) => console.log(`with another waypoint: ${code}`))
  node.close()
}

async function showBalance(node: { url: string; waypoint: string }, owner: string): Promise<void> {
  const { balance, coinStore, primaryStore, version } = await verifyBalance({ ...node, address: owner, asset: APT })
  const parts = [`coin store ${coinStore ?? 'absent'}`, `primary store ${primaryStore ?? 'absent'}`]
  console.log(`balance at version ${version}: ${balance} (${parts.join(', ')})`)
}
