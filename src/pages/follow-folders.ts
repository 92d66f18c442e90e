// Folders that are watched as long as they are there. Where the system has no more watches to give, somebody looks now and then.
import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'

export class FollowedFolders {
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()

  /** Tells the name of what changed in a folder; the empty text when the system does not say. Does nothing when it is watched already, or not there. */
  follow(folder: string, changed: (name: string) => void): void {
    const inode = statOrUndefined(folder)?.ino
    const known = this.#watchers.get(folder)
    if (known !== undefined && known.inode === inode) return
    // Taken away, and perhaps made anew: the watch is on what was there.
    this.leave(folder)
    if (inode === undefined) return
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        // The folder itself was taken away. One that is made anew may get the same number, but not the watch.
        if (event === 'rename' && name === basename(folder)) this.leave(folder)
        changed(name ?? '')
      })
      watcher.on('error', () => this.leave(folder))
      this.#watchers.set(folder, { watcher, inode })
    } catch (error) {
      // Not there yet, or no watch to be had: looking now and then has to do.
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
