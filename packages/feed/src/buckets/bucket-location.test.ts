import { describe, expect, it } from 'vitest'
import { bucketsAt, parentOf, parseBucketUri, urlOfKey } from './bucket-location.js'

describe('parseBucketUri', () => {
  it.each([
    ['s3://bucket/e1/', {}, 'https://bucket.s3.amazonaws.com', 'e1/', 's3://bucket/e1'],
    ['s3://bucket', {}, 'https://bucket.s3.amazonaws.com', '', 's3://bucket'],
    ['s3://a.bucket/e1', {}, 'https://s3.amazonaws.com/a.bucket', 'e1/', 's3://a.bucket/e1'],
    [
      's3://bucket/e1',
      { AWS_REGION: 'eu-west-1' },
      'https://bucket.s3.eu-west-1.amazonaws.com',
      'e1/',
      's3://bucket/e1',
    ],
    ['s3://b.c', { AWS_DEFAULT_REGION: 'eu-west-1' }, 'https://s3.eu-west-1.amazonaws.com/b.c', '', 's3://b.c'],
    ['s3://bucket//a//b', { AWS_ENDPOINT_URL: 'http://h:9000/' }, 'http://h:9000/bucket', 'a/b/', 's3://bucket/a/b'],
    [
      's3://bucket',
      { AWS_ENDPOINT_URL: 'http://a', AWS_ENDPOINT_URL_S3: 'http://b' },
      'http://b/bucket',
      '',
      's3://bucket',
    ],
    ['s3://bucket', { STORAGE_EMULATOR_HOST: 'h:1' }, 'https://bucket.s3.amazonaws.com', '', 's3://bucket'],
    [
      'gs://bucket/e1',
      { AWS_ENDPOINT_URL: 'http://a' },
      'https://storage.googleapis.com/bucket',
      'e1/',
      'gs://bucket/e1',
    ],
    [
      'gs://bucket/e1',
      { STORAGE_EMULATOR_HOST: 'localhost:9023' },
      'http://localhost:9023/bucket',
      'e1/',
      'gs://bucket/e1',
    ],
    ['gs://bucket', { STORAGE_EMULATOR_HOST: 'https://h' }, 'https://h/bucket', '', 'gs://bucket'],
  ])('reads %s with %j', (location, environment, address, prefix, root) => {
    const service = location.startsWith('gs') ? 'gs' : 's3'
    expect(parseBucketUri(location, environment)).toEqual({ root, address, prefix, service })
  })

  it.each(['s3://', 's3:///e1', 's3://b/../x', 'gs://bucket/./x', 's3://a b/x', 's3://key:secret@bucket/x'])(
    'refuses %s, and repeats no password',
    (location) => {
      const error = (() => {
        try {
          return parseBucketUri(location, {})
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).toMatchObject({
        code: 'invalid_argument',
        message: expect.stringMatching(/does not name a backup in a buc/),
      })
      expect(String(error)).not.toContain('secret')
    },
  )

  it('refuses an endpoint that is none', () => {
    expect(() => parseBucketUri('s3://bucket', { AWS_ENDPOINT_URL: 'nonsense' })).toThrow(/is not a URL/)
  })
})

describe('bucketsAt', () => {
  const places = (url: string, isListing = false) =>
    bucketsAt(url, isListing).map(({ address, prefix }) => [address, prefix])

  it.each([
    ['https://storage.googleapis.com/bucket/e1/', [['https://storage.googleapis.com/bucket', 'e1/']]],
    ['https://s3.eu-west-1.amazonaws.com/b.c/e1', [['https://s3.eu-west-1.amazonaws.com/b.c', 'e1/']]],
    ['https://bucket.s3.amazonaws.com/e1/x', [['https://bucket.s3.amazonaws.com', 'e1/x/']]],
    ['https://b.s3-eu-west-1.amazonaws.com/', [['https://b.s3-eu-west-1.amazonaws.com', '']]],
    ['https://bucket.storage.googleapis.com/e1', [['https://bucket.storage.googleapis.com', 'e1/']]],
    [
      'https://minio.example/bucket/a%20b',
      [
        ['https://minio.example/bucket', 'a b/'],
        ['https://minio.example', 'bucket/a b/'],
      ],
    ],
    ['https://backup.example', [['https://backup.example', '']]],
  ])('reads %s', (url, expected) => {
    expect(places(url)).toEqual(expected)
  })

  it('takes a URL that lists for the bucket', () => {
    expect(places('https://minio.example/a/b/', true)).toEqual([['https://minio.example/a/b', '']])
  })
})

describe('a place in a bucket', () => {
  it('has the folder above it as its parent, as long as there is one', () => {
    const place = parseBucketUri('gs://bucket/e1/state_7', {})
    const above = parentOf(place)
    expect(above).toEqual({ parent: { ...place, root: 'gs://bucket/e1', prefix: 'e1/' }, name: 'state_7' })
    expect(parentOf(above!.parent)).toEqual({ parent: { ...place, root: 'gs://bucket', prefix: '' }, name: 'e1' })
    expect(parentOf(parentOf(above!.parent)!.parent)).toBeUndefined()
  })

  it('has the names of objects escaped in their URLs', () => {
    expect(urlOfKey('https://h/b', 'e1/a b/c?d#e%')).toBe('https://h/b/e1/a%20b/c%3Fd%23e%25')
  })
})
