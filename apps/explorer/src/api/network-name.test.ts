import { expect, it } from 'vitest'
import { networkName } from './network-name.ts'

it('a network has the name that people know, or else the one that its operator gave, or none', () => {
  expect(networkName('1', 'my copy')).toBe('Aptos mainnet (chain\u00a01)')
  expect(networkName('77', 'my-fork')).toBe('my-fork (chain\u00a077)')
  expect([networkName('77', null), networkName('77')]).toEqual(['Chain 77', 'Chain 77'])
})
