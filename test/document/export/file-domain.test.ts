import { describe, expect, test } from 'vitest'
import {
  type FileDomain,
  fileDomain,
  fileType,
  sessionDomain,
} from '../../../src/document/export/file-domain.ts'

describe('the domain of a file', () => {
  const cases: readonly (readonly [string, FileDomain])[] = [
    ['frontend/src/services/api.ts', 'frontend'],
    ['backend/app/api/v1/endpoints/auth.py', 'backend'],
    ['src/login.ts', 'backend'],
    ['src/Button.tsx', 'frontend'],
    ['src/theme.SCSS', 'frontend'],
    ['server/mail/welcome.html', 'backend'],
    ['web/server.js', 'frontend'],
    ['internal/sweep/sweeper.go', 'backend'],
    ['db/migrations/0001.sql', 'backend'],
    ['Dockerfile', 'devops'],
    ['docker-compose.dev.yml', 'devops'],
    ['.github/workflows/ci.yml', 'devops'],
    ['infra/main.tf', 'devops'],
    ['bin/release.sh', 'devops'],
    ['Makefile', 'devops'],
    ['README.md', 'docs'],
    ['docs/page.html', 'docs'],
    ['package.json', 'other'],
    ['my file with spaces.py', 'backend'],
    ['a\\windows\\frontend\\x.ts', 'frontend'],
    ['.gitignore', 'other'],
    ['', 'other'],
  ]
  test.each(cases)('of %s is %s', (path, domain) => {
    expect(fileDomain(path)).toBe(domain)
  })

  test('comes with a type taken from the file extension', () => {
    expect(['a/b.tsx', 'a.b/c', '.gitignore', 'x.TAR.GZ', 'a b.py'].map(fileType)).toEqual([
      'tsx',
      '',
      '',
      'gz',
      'py',
    ])
  })
})

describe('the domain of a session', () => {
  test.each([
    [['src/Button.tsx', 'docs/a.md'], 'frontend'],
    [['api/auth.py', 'Dockerfile', 'README.md'], 'backend'],
    [['api/auth.py', 'web/login.tsx'], 'fullstack'],
    [['Dockerfile', '.github/workflows/ci.yml', 'README.md'], 'devops'],
    [['README.md'], 'fullstack'],
    [[], 'fullstack'],
  ])('of %j is %s', (paths, domain) => {
    expect(sessionDomain(paths)).toBe(domain)
  })
})
