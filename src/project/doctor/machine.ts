import { statfsSync } from 'node:fs'
import { isWalSafe, loadSqlite } from '../../index/sqlite.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import type { ProjectPaths } from '../store/project-paths.ts'
import { type DoctorCheck, CheckFindings } from './diagnosis.ts'

const MEGABYTE = 1024 * 1024
const LOW_MB = 1024
const CRITICAL_MB = 50

// From linux/magic.h and statfs(2).
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x01021997, '9p'],
  [0x786f4256, 'a shared folder of VirtualBox'],
  [0xbacbacbc, 'a shared folder of VMware'],
])
const FUSE = 0x65735546

export function networkFileSystem(
  type: number,
): { readonly name: string; readonly isCertain: boolean } | undefined {
  // 32 bits, signed or not.
  const unsigned = type >>> 0
  if (unsigned === FUSE) return { name: 'FUSE', isCertain: false }
  const name = NETWORK_TYPES.get(unsigned)
  return name === undefined ? undefined : { name, isCertain: true }
}

export function checkFileSystem(paths: ProjectPaths): DoctorCheck {
  const findings = new CheckFindings('file system')
  const folders = [
    paths.sessions,
    ...(paths.repository === undefined ? [] : [paths.repository.commonDir]),
  ]
  if (process.platform !== 'linux') {
    return findings.check(
      `not looked at on ${process.platform}: keep the project on a disk of this machine`,
    )
  }
  for (const path of folders.filter((name) => statOrUndefined(name) !== undefined)) {
    const found = networkFileSystem(statfsSync(path).type)
    if (found === undefined) continue
    const location = found.isCertain
      ? `is on ${found.name}`
      : `is on ${found.name} and may be on a network`
    findings.note(
      `${path} ${location}: appends of several machines at once can mix there, and a sync may not reach the disk`,
    )
  }
  const [sessions, git] = folders.map((path) => statOrUndefined(path)?.dev)
  if (sessions !== undefined && git !== undefined && sessions !== git) {
    findings.note(
      'the git directory is on another disk, so no log has a second name: rm -r .sessions and git clean -fdx are final',
    )
  }
  return findings.check('a disk of this machine', () => 'not everything is protected here')
}

export function checkSpace(paths: ProjectPaths): DoctorCheck {
  const findings = new CheckFindings('free space')
  const { bavail, bsize } = statfsSync(
    statOrUndefined(paths.sessions) === undefined ? paths.root : paths.sessions,
  )
  const megabytes = Math.floor((bavail * bsize) / MEGABYTE)
  const size = megabytes >= 10 * 1024 ? `${Math.floor(megabytes / 1024)} GB` : `${megabytes} MB`
  if (megabytes < CRITICAL_MB)
    findings.problem('entries are refused when the disk is full; make room')
  else if (megabytes < LOW_MB) findings.note('entries are refused when the disk is full')
  return findings.check(size, () => size)
}

export function checkVersions(): DoctorCheck {
  const findings = new CheckFindings('versions')
  const node = `Node ${process.versions.node}`
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    findings.problem('Stint needs Node 20.19 or later')
  let sqlite: string
  try {
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(':memory:')
    sqlite = (database.prepare('SELECT sqlite_version() AS version').get() as { version: string })
      .version
    database.close()
  } catch (error) {
    findings.problem(error instanceof Error ? error.message : String(error))
    return findings.check(node, () => `${node}, no SQLite`)
  }
  const versions = `${node}, SQLite ${sqlite}`
  if (!isWalSafe(sqlite))
    findings.note(
      'this SQLite can damage a write-ahead log that several processes share, so none is used',
    )
  return findings.check(versions, () => versions)
}
