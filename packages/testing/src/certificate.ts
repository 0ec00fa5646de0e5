// Makes X.509 certificates for tests, in DER (RFC 5280): Node.js cannot.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface TestCertificate {
  /** Private key in PEM. */
  readonly key: string
  /** Certificate in PEM. */
  readonly cert: string
}

export interface CertificateOptions {
  /** IPv4 address of the certificate; 127.0.0.1 by default. */
  readonly address?: string
  readonly validFrom?: Date
  readonly validTo?: Date
  /** Certificate that signs this one; by default it signs itself. */
  readonly issuer?: TestCertificate
}

const DAY_MS = 86_400_000

/** Makes a certificate of an IPv4 address. One that signs itself may also sign others. */
export function makeCertificate(options: CertificateOptions = {}): TestCertificate {
  const { address = '127.0.0.1', issuer } = options
  const { validFrom = new Date(Date.now() - DAY_MS), validTo = new Date(Date.now() + DAY_MS) } = options
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = issuer ? createPrivateKey(issuer.key) : privateKey
  const subject = issuer ? address : 'authority'
  const extensions = [
    // Basic constraints: whether it may sign others.
    extension([0x55, 0x1d, 0x13], sequence(issuer ? [] : [der(0x01, Buffer.of(0xff))])),
    // Subject alternative name: an IP address.
    extension([0x55, 0x1d, 0x11], sequence([der(0x87, Buffer.from(address.split('.').map(Number)))])),
  ]
  const unsigned = sequence([
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.from([1, ...Buffer.from(address.split('.').map((part) => Number(part) & 0x7f))])),
    ECDSA_WITH_SHA256,
    nameOf('authority'),
    sequence([timeOf(validFrom), timeOf(validTo)]),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extensions)),
  ])
  const signature = sign('sha256', unsigned, signer)
  const certificate = sequence([unsigned, ECDSA_WITH_SHA256, der(0x03, Buffer.concat([Buffer.of(0), signature]))])
  return { key: keyToPem(privateKey), cert: toPem(certificate) }
}

const ECDSA_WITH_SHA256 = sequence([oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])])

function nameOf(text: string): Buffer {
  return sequence([der(0x31, sequence([oid([0x55, 0x04, 0x03]), der(0x0c, Buffer.from(text))]))])
}

/** A date as GeneralizedTime. */
function timeOf(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`))
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence([oid(id), der(0x04, value)])
}

function oid(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes))
}

function sequence(parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

/** An element of DER: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content])
}

function keyToPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function toPem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
