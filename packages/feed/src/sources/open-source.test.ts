import { expect, it } from 'vitest'
import { openSource } from './open-source.js'

it('suggests the network that a missing source is misspelt from', async () => {
  await expect(openSource('mainet')).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/^the source mainet cannot be read: ENOENT.*; did you mean mainnet\?$/),
  })
  await expect(openSource('backup-of-mine')).rejects.toMatchObject({ message: expect.not.stringContaining('mean') })
})
