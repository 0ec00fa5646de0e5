import { expect, it } from 'vitest'
import { openSource } from './open-source.js'

it('suggests the network that a missing source is misspelt from', async () => {
  await expect(openSource('mainet')).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(
      /^the source mainet cannot be read: there is no such file or folder; did you mean mainnet\?$/,
    ),
  })
  await expect(openSource('backup-of-mine')).rejects.toMatchObject({ message: expect.not.stringContaining('mean') })
})

it.each([
  ['localhost:8080/v1', 'did you mean http://localhost:8080/v1?'],
  ['api.mainnet.example/v1', 'did you mean https://api.mainnet.example/v1?'],
  ['https:/node.example/v1', 'a URL begins with https://, http://, s3://, gs://, backup+http:// or backup+https://'],
  ['ftp://host/backup', 'a URL begins with https://, http://, s3://, gs://, backup+http:// or backup+https://'],
])('says how the URL %s is written', async (location, advice) => {
  const message = expect.stringMatching(/^the source \S+ cannot be read: there is no such file or folder/)
  const refused = await openSource(location).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'invalid_argument', message })
  expect((refused as Error).message.endsWith(`; ${advice}`)).toBe(true)
})
