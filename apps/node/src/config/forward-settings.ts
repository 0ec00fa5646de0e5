import { FORWARD_KINDS, type ForwardKind } from '@ledger-state/http/limits'
import { usageError } from '../errors.js'

/** One value of `--forward`. */
export interface ForwardRule {
  /** Kind of request; undefined for all kinds that no other value names. */
  readonly kind: ForwardKind | undefined
  /** URL of an upstream, ending in `/v1`. */
  readonly url: string
}

/** Requests that are forwarded, and their upstreams. */
export interface ForwardSettings {
  readonly upstreams: Readonly<Partial<Record<ForwardKind, string>>>
  readonly headers: Readonly<Record<string, string>>
}

/** Returns a parser for `URL` or `KIND=URL`. */
export function forwardRule(parseUrl: (text: string) => string): (text: string) => ForwardRule {
  return (text) => {
    const [, word, rest] = /^([a-z-]+)=(.*)$/s.exec(text) ?? []
    if (word === undefined) return { kind: undefined, url: parseUrl(text) }
    const kind = FORWARD_KINDS.find((one) => one === word)
    if (!kind)
      throw usageError(`${JSON.stringify(word)} is not a kind of requests; kinds are ${FORWARD_KINDS.join(', ')}`)
    return { kind, url: parseUrl(rest!) }
  }
}

/**
 * The upstream for each kind of request; undefined if nothing is forwarded.
 * @param pruned whether reads of pruned state are forwarded, too
 * @throws `usage` if values contradict each other
 */
export function forwardSettings(
  rules: readonly ForwardRule[],
  pruned: boolean,
  headers: Readonly<Record<string, string>>,
): ForwardSettings | undefined {
  const upstreams: Partial<Record<ForwardKind, string>> = {}
  const [common, ...more] = rules.filter(({ kind }) => kind === undefined)
  if (more.length > 0) throw usageError('--forward names two upstreams for all kinds; KIND=URL names one for a kind')
  for (const { kind, url } of rules) {
    if (kind === undefined) continue
    if (upstreams[kind] !== undefined) throw usageError(`--forward names two upstreams for ${kind}`)
    if (kind === 'state' && !pruned) throw usageError('--forward state=URL is for --forward-pruned')
    upstreams[kind] = url
  }
  if (common) {
    for (const kind of FORWARD_KINDS) if (kind !== 'state' || pruned) upstreams[kind] ??= common.url
  }
  if (pruned && upstreams.state === undefined) throw usageError('--forward-pruned needs an upstream: --forward URL')
  return rules.length === 0 ? undefined : { upstreams, headers }
}
