import { vi } from 'vitest'

/** Resolves with the text of the next file that the page saves. */
export function savedFile(): Promise<string> {
  return new Promise((resolve) => {
    const save = vi.spyOn(URL, 'createObjectURL').mockImplementation((file) => {
      save.mockRestore()
      resolve((file as Blob).text())
      return 'blob:saved'
    })
  })
}
