import { expect, it } from 'vitest'
import { redirectTarget } from './redirect.js'

const target = (url: string, headers: Record<string, string>) => redirectTarget(url, new Headers(headers))
const region = (name: string) => ({ 'x-amz-bucket-region': name })

it.each([
  ['https://bkt.s3.amazonaws.com/k?x=1', region('eu-west-1'), 'https://bkt.s3.eu-west-1.amazonaws.com/k?x=1'],
  ['https://b.c.s3.amazonaws.com/k', region('eu-west-1'), 'https://b.c.s3.eu-west-1.amazonaws.com/k'],
  ['https://s3.amazonaws.com/b.c/k', region('eu-west-1'), 'https://s3.eu-west-1.amazonaws.com/b.c/k'],
  ['https://bkt.s3.us-east-1.amazonaws.com/k', region('us-gov-west-1'), 'https://bkt.s3.us-gov-west-1.amazonaws.com/k'],
  ['https://bkt.s3.eu-west-1.amazonaws.com/k', region('eu-west-1'), undefined],
  ['https://bkt.s3.amazonaws.com/k', region('evil.example/'), undefined],
  ['https://bkt.s3.amazonaws.com/k', region('website-us-east-1'), undefined],
  ['https://h.example/k', region('eu-west-1'), undefined],
  ['https://ec2-203-0-113-7.compute-1.amazonaws.com/k', region('eu-west-1'), undefined],
])('leads from %s with %j to %s', (url, headers, expected) => {
  expect(target(url, headers)).toBe(expected)
})

const BUCKET = 'https://bucket.s3.amazonaws.com/x'

it.each([
  [BUCKET, 'https://bucket.s3.eu-west-1.amazonaws.com/x', true],
  [BUCKET, 'https://bucket.s3-eu-west-1.amazonaws.com/x', true],
  [BUCKET, 'https://bucket.s3.dualstack.eu-west-1.amazonaws.com/x', true],
  [BUCKET, 'https://s3.eu-west-1.amazonaws.com/bucket/x', true],
  ['https://s3.amazonaws.com/bucket/x', 'https://bucket.s3.eu-west-1.amazonaws.com/x', true],
  ['http://bucket.s3.amazonaws.com/x', 'https://bucket.s3.eu-west-1.amazonaws.com/x', true],
  ['https://h.example/k', '/other', true],
  [BUCKET, 'http://bucket.s3.eu-west-1.amazonaws.com/x', false],
  ['http://bucket.s3.amazonaws.com/x', 'http://bucket.s3.eu-west-1.amazonaws.com/x', false],
  [BUCKET, 'https://bucket.s3.eu-west-1.amazonaws.com:8443/x', false],
  [BUCKET, 'https://other.s3.eu-west-1.amazonaws.com/x', false],
  [BUCKET, 'https://s3.eu-west-1.amazonaws.com/other/x', false],
  [BUCKET, 'https://s3.eu-west-1.amazonaws.com/', false],
  [BUCKET, 'https://bucket.s3.cn-north-1.amazonaws.com.cn/x', false],
  [BUCKET, 'https://bucket.s3.amazonaws.com.evil.example/x', false],
  [BUCKET, 'https://ec2-203-0-113-7.compute-1.amazonaws.com/x', false],
  [BUCKET, 'https://internal-evil-1.us-east-1.elb.amazonaws.com/x', false],
  [BUCKET, 'https://abc123.execute-api.us-east-1.amazonaws.com/prod', false],
  [BUCKET, 'https://bucket.s3-website-us-east-1.amazonaws.com/x', false],
  [BUCKET, 'https://bucket.s3-website.us-east-1.amazonaws.com/x', false],
  [BUCKET, 'https://bucket.s3-accesspoint.us-east-1.amazonaws.com/x', false],
  [BUCKET, 'https://bucket.s3-object-lambda.us-east-1.amazonaws.com/x', false],
  [BUCKET, 'https://bucket.s3-control.us-east-1.amazonaws.com/x', false],
  [BUCKET, 'https://169.254.169.254/bucket/x', false],
  ['https://h.example/k', 'https://bucket.s3.eu-west-1.amazonaws.com/x', false],
])('may lead from %s to %s: %s', (url, location, isFollowed) => {
  expect(target(url, { location })).toBe(isFollowed ? new URL(location, url).href : undefined)
})
