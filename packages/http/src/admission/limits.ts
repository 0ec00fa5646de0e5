const MIB = 1024 * 1024

/** The default limits of a service by the names of its options, which describe them. */
export const DEFAULT_LIMITS = {
  bodyLimitBytes: 8 * MIB,
  maxUploads: 5_000,
  maxUploadBytes: 64 * MIB,
  maxRequestsInFlight: 2_000,
  maxAnswerBytes: 96 * MIB,
  maxEventLoopDelayMs: 1_000,
  maxHoldMs: 5_000,
  maxHeld: 1_000,
  forwardBodyLimitBytes: 4 * MIB,
  forwardAnswerLimitBytes: 64 * MIB,
  forwardTimeoutMs: 30_000,
  maxStreams: 200,
  maxStreamsPerAddress: 20,
  maxForwards: 64,
  maxForwardQueue: 256,
  maxConnections: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 60_000,
  drainTimeoutMs: 10_000,
} as const satisfies Record<string, number>

export type Limits = Readonly<Record<keyof typeof DEFAULT_LIMITS, number>>

const NAMES = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]

/** The limits that the options give, and the default ones for the others. */
export function limitsOf(options: { readonly [Name in keyof Limits]?: number | undefined }): Limits {
  return Object.fromEntries(NAMES.map((name) => [name, options[name] ?? DEFAULT_LIMITS[name]])) as Limits
}
