import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
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

it('passes over a backup whose metadata are not sound, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'open-network-'))
  try {
    const [broken, sound] = [join(folder, 'broken'), join(folder, 'sound')]
    writeBackup(new SyntheticChain({ blocks: 3 }), sound)
    cpSync(sound, broken, { recursive: true })
    writeFileSync(join(broken, 'metadata/more.meta'), 'nothing')
    const notices: string[] = []
    const onNotice = (text: string) => notices.push(text)
    const network = { name: 'mine', chainId: 42, hashSalt: 'APTOS::', waypoints: [], backups: [broken, sound] }
    const source = await openNetwork(network, { onNotice, thread: false })
    expect(source.position).toBe(sound)
    await source.close()
    expect(notices).toEqual([expect.stringMatching(/more.meta, line 1 .*; using the next backup of the network/)])
    await expect(openNetwork({ ...network, backups: [broken] })).rejects.toMatchObject({ code: 'invalid_backup' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
