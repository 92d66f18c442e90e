// Watches folders while they exist; without inotify watches the caller polls.
import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'

export class FollowedFolders {
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()

  /** Reports the changed name, empty if unknown. */
  follow(folder: string, changed: (name: string) => void): void {
    const inode = statOrUndefined(folder)?.ino
    const known = this.#watchers.get(folder)
    if (known !== undefined && known.inode === inode) return
    // The watch is on a folder that is gone.
    this.leave(folder)
    if (inode === undefined) return
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        // The folder itself was removed; a new one may get its inode, but not the watch.
        if (event === 'rename' && name === basename(folder)) this.leave(folder)
        changed(name ?? '')
      })
      watcher.on('error', () => this.leave(folder))
      this.#watchers.set(folder, { watcher, inode })
    } catch (error) {
      // Missing, or no watch available: polling has to do.
      if (errnoOf(error) === undefined) throw error
    }
  }

  leave(folder: string): void {
    this.#watchers.get(folder)?.watcher.close()
    this.#watchers.delete(folder)
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
