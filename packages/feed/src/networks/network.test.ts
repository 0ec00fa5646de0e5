import { describe, expect, it } from 'vitest'
import { findKnownNetwork, KNOWN_NETWORKS, parseNetwork } from './network.js'

const WAYPOINT = `12:${'0a'.repeat(32)}`
const MINE = { name: 'mine', chainId: 7, hashSalt: 'FORK::', waypoints: [WAYPOINT] }

describe('a network', () => {
  it('that is known is found by its chain id and salt, and has a genesis', () => {
    expect(KNOWN_NETWORKS.map(({ name }) => name)).toEqual(['mainnet', 'testnet', 'devnet'])
    expect(findKnownNetwork(1, 'APTOS::')?.name).toBe('mainnet')
    expect(findKnownNetwork(1, 'DIEM::')).toBeUndefined()
    for (const network of KNOWN_NETWORKS) {
      expect(parseNetwork(network)).toEqual(network)
      expect(network.waypoints[0]).toMatch(/^0:/)
    }
  })

  it('is read from JSON, and its faults are named', () => {
    expect(parseNetwork(MINE)).toEqual(MINE)
    const whole = { ...MINE, backups: ['s3://mine/e1', 'backup'], nodes: ['https://node.example/v1'] }
    expect(parseNetwork(whole)).toEqual(whole)
    const faults: readonly (readonly [unknown, RegExp])[] = [
      [7, /not an object/],
      [{ ...MINE, name: '' }, /"name"/],
      [{ ...MINE, chainId: 256 }, /"chainId" is not a whole number from 0 to 255/],
      [{ ...MINE, chainId: '7' }, /"chainId"/],
      [{ ...MINE, hashSalt: undefined }, /"hashSalt"/],
      [{ ...MINE, waypoints: WAYPOINT }, /"waypoints"/],
      [{ ...MINE, waypoints: [7] }, /a waypoint is not a text/],
      [{ ...MINE, waypoints: ['12'] }, /not a waypoint/],
      [{ ...MINE, backups: 's3://x' }, /"backups" is not a list/],
      [{ ...MINE, nodes: ['https://node.example'] }, /"nodes" is not a list of URLs that end in \/v1/],
      [{ ...MINE, nodes: ['https://user:secret@node.example/v1'] }, /"nodes"/],
      [{ ...MINE, salt: 'x' }, /the member "salt" is unknown/],
    ]
    for (const [value, message] of faults) expect(() => parseNetwork(value)).toThrow(message)
  })
})
