import { describe, expect, it } from 'vitest'
import { isBucketAnswer, parseListing } from './listing-page.js'

const listing = (members: string) => `<ListBucketResult xmlns="x">${members}</ListBucketResult>`
const contents = (key: string, size = '1') => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`

describe('parseListing', () => {
  it('reads an empty listing, and names with escaped characters', () => {
    expect(parseListing(listing('<IsTruncated>false</IsTruncated>'))).toEqual({
      objects: [],
      folders: [],
      next: undefined,
    })
    const page = parseListing(listing(contents('a&amp;&#60;&#x3e;&quot;&apos;&other;&#x110000;', '98')))
    expect(page?.objects).toEqual([{ name: `a&<>"'&other;&#x110000;`, bytes: 98 }])
  })

  it('reads the folders among the objects', () => {
    const folder = (key: string) => `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`
    const page = parseListing(listing(`<Prefix>e/</Prefix>${folder('e/a/')}${contents('e/b')}${folder('e/c&amp;/')}`))
    expect(page).toMatchObject({ folders: ['e/a/', 'e/c&/'], objects: [{ name: 'e/b', bytes: 1 }] })
  })

  it('finds the continuation token, wherever it is', () => {
    const truncated = '<IsTruncated>true</IsTruncated>'
    const next = (members: string) => parseListing(listing(members))?.next
    expect(next(`${truncated}<NextContinuationToken>t=&amp;</NextContinuationToken>${contents('a')}`)).toEqual({
      name: 'continuation-token',
      value: 't=&',
    })
    expect(next(`${contents('a')}${truncated}<NextMarker>b</NextMarker>`)).toEqual({ name: 'marker', value: 'b' })
    expect(next(`${contents('a')}${contents('c')}${truncated}`)).toEqual({ name: 'marker', value: 'c' })
    expect(parseListing(listing(truncated))).toBeUndefined()
  })

  it.each([
    '',
    'text',
    '<Error><Code>x</Code></Error>',
    listing(contents('a')).slice(0, -1),
    listing('<Contents><Key>a</Key></Contents>'),
    listing('<Contents><Size>1</Size></Contents>'),
    listing(contents('a', '-1')),
    listing(contents('a', '1e3')),
    listing('<Contents><Key>a</Key><Size>1</Size>'),
  ])('takes nothing that is incomplete: %j', (text) => {
    expect(parseListing(text)).toBeUndefined()
  })

  it('takes no text that is longer than buckets allow, and does not unescape it', () => {
    const long = '&#65;'.repeat(2_000)
    expect(parseListing(listing(contents(long)))).toBeUndefined()
    const next = `<IsTruncated>true</IsTruncated><NextContinuationToken>${long}</NextContinuationToken>`
    expect(parseListing(listing(next))).toBeUndefined()
    expect(parseListing(listing(`<CommonPrefixes><Prefix>${long}</Prefix></CommonPrefixes>`))?.folders).toEqual([])
    expect(parseListing(listing(contents('&#x41;'.repeat(1_024))))?.objects).toEqual([
      { name: 'A'.repeat(1_024), bytes: 1 },
    ])
  })

  it('takes hostile texts in a time that grows with their length only', () => {
    const many = 200_000
    expect(parseListing(listing('<Contents>'.repeat(many)))).toBeUndefined()
    expect(parseListing(listing('<Contents><Key>'.repeat(many)))).toBeUndefined()
    expect(parseListing(' '.repeat(many))).toBeUndefined()
  })
})

describe('an answer', () => {
  it.each([
    [`<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code></Error>`, true],
    [`\uFEFF<?xml version="1.0"?>\n${listing('')}`, true],
    ['<!DOCTYPE html><html></html>', false],
    ['{"chain_id":4}', false],
    ['', false],
  ])('%j is of a bucket: %s', (text, expected) => {
    expect(isBucketAnswer(text)).toBe(expected)
  })
})
