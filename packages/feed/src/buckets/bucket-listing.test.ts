import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listFolder } from './bucket-listing.js'
import { BucketRequests } from './bucket-requests.js'

let server: Server
let address: string
/** Makes the members of a page, counted from 1, but those that lead on; undefined for the last page. */
let membersOf: (page: number) => string | undefined
let pages: number
beforeEach(async () => {
  pages = 0
  server = createServer((_, response) => {
    const members = membersOf(++pages)
    const next = `<IsTruncated>true</IsTruncated><NextContinuationToken>t${pages}</NextContinuationToken>`
    response.end(`<ListBucketResult xmlns="x">${members === undefined ? '' : next}${members ?? ''}</ListBucketResult>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function list(): Promise<string[]> {
  const requests = new BucketRequests({})
  try {
    const location = { address, prefix: 'e1/', root: 's3://bucket/e1' } as Parameters<typeof listFolder>[1]
    return [...(await listFolder(requests, location, 'state')).keys()]
  } finally {
    requests.close()
  }
}

const object = (key: string) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`
const folder = (key: string) => `<CommonPrefixes><Prefix>${key}/</Prefix></CommonPrefixes>`
const many = (count: number, member: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => member(at)).join('')

describe('a listing', () => {
  it.each<[string, (page: number) => string]>([
    ['empty pages', () => ''],
    ['the same object', () => object('e1/state/same')],
    ['objects of other places', (page) => many(50, (at) => object(`other/${page}/${at}`))],
    ['one new object a page', (page) => object(`e1/state/${page}`)],
    ['the same folder', () => folder('e1/state/f')],
    ['names that are too long', (page) => many(20, (at) => object(`e1/state/${page}-${at}${'x'.repeat(5_000)}`))],
  ])('ends if pages lead on for ever with %s', async (_, members) => {
    membersOf = members
    await expect(list()).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('answered a page of the listing without a next page'),
    })
    expect(pages).toBeLessThan(200)
  })

  it('may have many pages with only folders, and some that are empty', async () => {
    membersOf = (page) => {
      if (page === 200) return undefined
      if (page % 3 === 0) return ''
      return page === 150 + 1 ? object('e1/state/last') : many(20, (at) => folder(`e1/state/${page}-${at}`))
    }
    expect(await list()).toEqual(['state/last'])
  })
})
