import { isIP } from 'node:net'

const PROTOCOL = /^(?:tcp|udp|sctp)$/
const ADDRESS = /^(?:tcp|udp|sctp):\/\/.+:\d{1,5}$/
const isPort = (text: string): boolean => /^\d{1,5}$/.test(text)
const isHost = (text: string): boolean => isIP(text) !== 0

/** Endings of the variables, and the forms of their values. */
const LINKS: readonly (readonly [RegExp, (text: string) => boolean])[] = [
  [/_SERVICE_HOST$/, isHost],
  [/_SERVICE_PORT(?:_\w+)?$/, isPort],
  [/_PORT(?:_\d{1,5}_(?:TCP|UDP|SCTP))?$/, (text) => ADDRESS.test(text)],
  [/_PORT_\d{1,5}_(?:TCP|UDP|SCTP)_PROTO$/, (text) => PROTOCOL.test(text)],
  [/_PORT_\d{1,5}_(?:TCP|UDP|SCTP)_PORT$/, isPort],
  [/_PORT_\d{1,5}_(?:TCP|UDP|SCTP)_ADDR$/, isHost],
]

/**
 * Whether a variable is a service link: Kubernetes gives each container variables that name the services of its
 * namespace, such as `LEDGER_STATE_SERVICE_HOST=10.0.0.1` and `LEDGER_STATE_PORT=tcp://10.0.0.1:8080` for the service
 * `ledger-state`. No setting has both such a name and such a value.
 */
export function isServiceLink(variable: string, value: string): boolean {
  return LINKS.some(([ending, isExpected]) => ending.test(variable) && isExpected(value))
}
