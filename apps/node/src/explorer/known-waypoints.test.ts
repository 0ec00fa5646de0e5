import { KNOWN_WAYPOINTS } from '@ledger-state/explorer/known-waypoints'
import { KNOWN_NETWORKS } from '@ledger-state/feed'
import { expect, it } from 'vitest'

it('the page knows the waypoints of the networks that the program knows', () => {
  const ofProgram = KNOWN_NETWORKS.map(({ chainId, waypoints }) => [String(chainId), waypoints])
  expect(KNOWN_WAYPOINTS).toEqual(Object.fromEntries(ofProgram))
})
