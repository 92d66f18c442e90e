// Files that hold credentials by their name or their first bytes. An untracked one is never copied into a git object.
import { closeSync, fstatSync, lstatSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { openRegularFile } from '../journal/write-files.ts'

const EXAMPLE = /[._-](?:example|sample|template|dist|defaults?)$/
const ENVIRONMENT = /^\.env/
const PUBLIC_KEY = /\.pub$/
const SECRET_NAME = new RegExp(
  [
    /^id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)(?:[._-].*)?$/,
    /\.(?:key|p12|pfx|jks|keystore|ppk|kdbx|p8|pkcs12|bks|ovpn|agekey)$/,
    /^[._](?:netrc|pgpass|git-credentials|htpasswd|dockercfg|my\.cnf|s3cfg|boto|vault-token)$/,
    /^\.?credentials(?:\.(?:json|ya?ml|toml|ini|csv|properties|db))?$/,
    /^(?:application_default_credentials|client_secrets?[^/]*|service[-_]?account[^/]*)\.json$/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
)
/** Harmless in most projects, and a credential where it holds one of these. */
const SETTINGS_NAME = /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|pip\.conf|\.?kube-?config)$/
const DOCKER_SETTINGS = /(?:^|\/)\.docker\/config\.json$/i
const SETTINGS_SECRET =
  /_authToken|_auth\s*=|_password\s*=|npmAuthToken|npmAuthIdent|^\s*password\s*[:=]|client-key-data|"auth"\s*:|\/\/[^\s/:@]+:[^\s/@]+@/im
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|^PuTTY-User-Key-File-\d|^AGE-SECRET-KEY-1/m
const KEY_NAME = /\.(?:pem|asc|gpg|crt|cer|cert)$/
const HEAD_BYTES = 256
const SETTINGS_BYTES = 64 * 1024

/** `path` is relative to `worktree`, and latin1: one character for each byte. */
export function isSecretFile(worktree: string, path: string): boolean {
  const name = basename(Buffer.from(path, 'latin1').toString('utf8')).normalize('NFC').toLowerCase()
  if (EXAMPLE.test(name) || PUBLIC_KEY.test(name)) return false
  if (ENVIRONMENT.test(name) || SECRET_NAME.test(name)) return true
  const file = Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(path, 'latin1')])
  if (SETTINGS_NAME.test(name) || DOCKER_SETTINGS.test(path))
    return SETTINGS_SECRET.test(readStart(file, SETTINGS_BYTES))
  if (KEY_NAME.test(name)) return PRIVATE_KEY.test(readStart(file, SETTINGS_BYTES))
  // A key under any other name: the file begins with it, unlike source code that quotes one.
  const start = readStart(file, HEAD_BYTES).replace(/^[\ufeff\s]+/, '')
  return PRIVATE_KEY.exec(start)?.index === 0
}

function readStart(file: Buffer, bytes: number) {
  // git stores the target of a link, and not what is there.
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return ''
  const fd = openRegularFile(file)
  if (fd === undefined) return ''
  try {
    const buffer = Buffer.alloc(Math.min(bytes, fstatSync(fd).size))
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(fd)
  }
}
