import { describe, expect, it } from 'vitest'
import { environmentName, readConfiguration } from './configuration.js'
import { isServiceLink } from './service-links.js'
import { settings } from './settings.js'

/** Variables that Kubernetes makes for a service with two ports. */
function linksOf(service: string, host: string, ports: readonly (readonly [string, number])[]): [string, string][] {
  const bracketed = host.includes(':') ? `[${host}]` : host
  const first = ports[0]![1]
  return [
    [`${service}_SERVICE_HOST`, host],
    [`${service}_SERVICE_PORT`, String(first)],
    [`${service}_SERVICE_PORT_HTTP_API`, String(first)],
    [`${service}_PORT`, `tcp://${bracketed}:${first}`],
    ...ports.flatMap(([protocol, port]): [string, string][] => {
      const link = `${service}_PORT_${port}_${protocol.toUpperCase()}`
      return [
        [link, `${protocol}://${bracketed}:${port}`],
        [`${link}_PROTO`, protocol],
        [`${link}_PORT`, String(port)],
        [`${link}_ADDR`, host],
      ]
    }),
  ]
}

const PORTS = [
  ['tcp', 8080],
  ['udp', 53],
  ['sctp', 9],
] as const

describe('service links of Kubernetes', () => {
  it.each([
    ['LEDGER_STATE', '10.0.0.1'],
    ['LEDGER_STATE', 'fd00::1'],
    ['LEDGER_STATE_POSTGRES', '10.0.0.1'],
    ['LEDGER_STATE_DATA_DIR', '10.0.0.1'],
    ['LEDGER_STATE_FEED_2', '10.96.255.254'],
  ])('of the service %s at %s are no settings', (service, host) => {
    const links = Object.fromEntries(linksOf(service, host, PORTS))
    expect([...readConfiguration(undefined, links)]).toEqual([])
    const all = readConfiguration(undefined, { ...links, LEDGER_STATE_DATA_DIR: '/data' })
    expect([...all.values()]).toEqual([{ text: '/data', place: 'LEDGER_STATE_DATA_DIR' }])
  })

  it.each([
    ['LEDGER_STATE_RETIAN', '5'],
    ['LEDGER_STATE_PORT', '8080'],
    ['LEDGER_STATE_LISTEN_PORT', '8080'],
    ['LEDGER_STATE_SERVICE_HOST', 'node.example'],
    ['LEDGER_STATE_SERVICE_PORT', 'http'],
    ['LEDGER_STATE_PORT_8080_TCP', '8080'],
    ['LEDGER_STATE_SERVICE', '10.0.0.1'],
  ])('are not %s=%s', (name, value) => {
    expect(() => readConfiguration(undefined, { [name]: value })).toThrow(`${name}, which is not a setting`)
  })

  it('have other names than all settings', () => {
    for (const setting of Object.values(settings)) {
      for (const value of ['10.0.0.1', '8080', 'tcp', 'tcp://10.0.0.1:8080'])
        expect(isServiceLink(environmentName(setting), value)).toBe(false)
    }
  })
})
