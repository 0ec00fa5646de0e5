import type { TrustedState } from '@ledger-state/records'

/** Text about the signers: `by 80 of 90 of the voting power of epoch 8, from the waypoint 0:978a…`. */
export function describeTrustedState({ waypoint, epoch, power }: TrustedState): string {
  const by = power ? `by ${power.signed} of ${power.total} of the voting power of epoch ${epoch}, ` : ''
  return `${by}from the waypoint ${waypoint}`
}
