const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'this process may not read it',
  EPERM: 'this process may not read it',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead to no file',
}

/** Why a path cannot be read, for people who know the path: system errors of Node.js quote it again. */
export function whyUnreadable(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return REASONS[(cause as NodeJS.ErrnoException).code ?? ''] ?? cause.message
}
