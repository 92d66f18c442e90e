// Watches folders while they exist; where watching fails the caller polls.
import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import { errnoOf, ignoreIoErrors } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/read-files.ts'

export class FolderWatcher {
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()

  /** Reports the changed name, empty if unknown. */
  watch(folder: string, onChange: (name: string) => void): void {
    // A link is not watched: it may lead out of the project.
    const inode = ignoreIoErrors(() => statOrUndefined(folder)?.ino)
    const existing = this.#watchers.get(folder)
    if (existing !== undefined && existing.inode === inode) return
    // The watch is on a folder that is gone.
    this.unwatch(folder)
    if (inode === undefined) return
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        // The folder itself was removed; a new one may get its inode, but not the watch.
        if (event === 'rename' && name === basename(folder)) this.unwatch(folder)
        onChange(name ?? '')
      })
      watcher.on('error', () => this.unwatch(folder))
      this.#watchers.set(folder, { watcher, inode })
    } catch (error) {
      // Missing, or no watch available: polling has to do.
      if (errnoOf(error) === undefined) throw error
    }
  }

  unwatch(folder: string): void {
    this.#watchers.get(folder)?.watcher.close()
    this.#watchers.delete(folder)
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
