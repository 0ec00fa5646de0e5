import { DEFAULT_LIMITS } from '@ledger-state/http/limits'
import { type DefaultedOption, defaultedOption, inGroup, wholeNumber } from './option.js'
import { seconds, secondsText } from './seconds.js'

// The settings of limits of the service, by the names of the limits in `DEFAULT_LIMITS`, which has their defaults. A
// limit that a setting changes needs a row here and one there.

type LimitName = keyof typeof DEFAULT_LIMITS

function limit(
  limitName: LimitName,
  name: string,
  value: string,
  description: string,
  parse: (text: string) => number,
): DefaultedOption<number> {
  return defaultedOption(name, value, description, String(DEFAULT_LIMITS[limitName]), parse)
}

function timeout(limitName: LimitName, name: string, description: string): DefaultedOption<number> {
  return defaultedOption(name, 'SECONDS', description, secondsText(DEFAULT_LIMITS[limitName]), seconds(1))
}

export const limitSettings = {
  ...inGroup('Limits', {
    bodyLimitBytes: limit(
      'bodyLimitBytes',
      'body-limit',
      'BYTES',
      'largest request body as it is sent; a compressed one may have at most 1 MiB once decompressed',
      wholeNumber(1_024, 2 ** 30),
    ),
    maxConnections: limit(
      'maxConnections',
      'max-connections',
      'N',
      'concurrent connections, in each reader; fewer if file descriptors are limited',
      wholeNumber(1, 1_000_000),
    ),
    maxRequestsInFlight: limit(
      'maxRequestsInFlight',
      'max-requests-in-flight',
      'N',
      'concurrent requests with a body, in each reader; 503 above the limit',
      wholeNumber(1, 1_000_000),
    ),
    maxUploads: limit(
      'maxUploads',
      'max-uploads',
      'N',
      'bodies being received at one time, in each reader; above the limit the oldest is answered 503',
      wholeNumber(1, 1_000_000),
    ),
    maxUploadBytes: limit(
      'maxUploadBytes',
      'max-upload-bytes',
      'BYTES',
      'bytes of bodies held at one time, in each reader, at least twice the largest body; above the limit the largest is answered 503',
      wholeNumber(1_024, 2 ** 40),
    ),
    maxAnswerBytes: limit(
      'maxAnswerBytes',
      'max-answer-bytes',
      'BYTES',
      'bytes of answers being built or not read yet, in each reader; above the limit, an answer that its client does not read is dropped',
      wholeNumber(1_024, 2 ** 40),
    ),
    requestTimeoutMs: timeout('requestTimeoutMs', 'request-timeout', 'time limit for receiving a request'),
    idleTimeoutMs: timeout('idleTimeoutMs', 'idle-timeout', 'time after which a silent connection is closed'),
  }),
  ...inGroup('Forwarding', {
    maxForwards: limit(
      'maxForwards',
      'max-forwards',
      'N',
      'concurrent requests to the nodes of --forward, in each reader; further requests wait',
      wholeNumber(1, 100_000),
    ),
    maxForwardQueue: limit(
      'maxForwardQueue',
      'max-forward-queue',
      'N',
      'requests that wait to be forwarded, in each reader; 503 above the limit',
      wholeNumber(0, 100_000),
    ),
    forwardBodyLimitBytes: limit(
      'forwardBodyLimitBytes',
      'forward-body-limit',
      'BYTES',
      'largest body of a request that is forwarded',
      wholeNumber(1_024, 2 ** 30),
    ),
    forwardAnswerLimitBytes: limit(
      'forwardAnswerLimitBytes',
      'forward-answer-limit',
      'BYTES',
      'largest answer to a forwarded request',
      wholeNumber(1_024, 2 ** 40),
    ),
    forwardTimeoutMs: timeout(
      'forwardTimeoutMs',
      'forward-timeout',
      'time limit of a forwarded request, to the last byte of its answer',
    ),
  }),
} as const satisfies Partial<Record<LimitName, DefaultedOption<number>>>

/** Limits of the service that settings change. */
export type LimitsOfSettings = Readonly<Record<keyof typeof limitSettings, number>>

/** The limits that a command was given, and the default ones for the others. */
export function limitsOfSettings(get: (setting: DefaultedOption<number>) => number): LimitsOfSettings {
  const settings = Object.entries(limitSettings)
  return Object.fromEntries(settings.map(([name, setting]) => [name, get(setting)])) as LimitsOfSettings
}
