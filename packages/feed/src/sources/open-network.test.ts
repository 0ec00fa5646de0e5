import { expect, it } from 'vitest'
import { openNetwork } from './open-network.js'

it('says in one sentence that no backup of a network can be reached', async () => {
  const backups = ['https://one.invalid/backup', 'https://two.invalid/backup']
  const notices: string[] = []
  const network = { name: 'mine', chainId: 7, hashSalt: 'APTOS::', waypoints: [], backups }
  await expect(openNetwork(network, { onNotice: (text) => notices.push(text) })).rejects.toMatchObject({
    code: 'source_failed',
    message: expect.stringMatching(/^one\.invalid cannot be reached: .*; is this machine connected to the network\?$/),
  })
  expect(notices).toEqual([])
})
