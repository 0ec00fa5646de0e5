import { spawnSync } from 'node:child_process'

export const NOBODY = 65_534

/** Words that run the program as another user. Root ignores permissions, so tests of these need it. */
export function asNobody(): string[] {
  return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
}

const [command, ...words] = asNobody()
export const canBecomeNobody = spawnSync(command!, [...words, 'true']).status === 0
if (!canBecomeNobody) console.warn('the tests of permissions are skipped: only root can run a program as somebody else')
