// Typical repositories of a few files, with the facts that a new agent needs.

export interface Example {
  readonly files: Readonly<Record<string, string>>
  readonly expected: readonly string[]
  readonly untold?: readonly string[]
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2)

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'TypeScript with pnpm': {
    files: {
      'package.json': json({
        name: 'shop',
        description: 'An online shop',
        packageManager: 'pnpm@9.1.0',
        engines: { node: '>=22' },
        scripts: {
          build: 'vite build',
          prebuild: 'rm -rf dist',
          test: 'vitest run',
          dev: 'vite',
          lint: 'eslint .',
          typecheck: 'tsc --noEmit',
          'db:seed': 'node seed.js',
        },
        devDependencies: { vitest: '3', prettier: '3' },
      }),
      'tsconfig.json': '{ "compilerOptions": { "strict": true } } // with a comment',
      'eslint.config.js': 'export default []',
      '.editorconfig':
        'root = true\n[*]\nindent_style = space\nindent_size = 2\n[*.md]\nindent_style = tab\n',
      'src/cart/cart.ts': '',
      'src/pay/pay.ts': '',
      'src/cart/cart.test.ts': '',
      'docs/a.md': '',
      '.github/workflows/a-label.yml':
        'on: push\njobs:\n  x:\n    steps:\n      - uses: actions/labeler\n',
      'AGENTS.md': 'Always answer in French.',
      'CLAUDE.md': '@AGENTS.md',
      '.github/workflows/ci.yml':
        'on: push\njobs:\n  test:\n    steps:\n      - run: pnpm install\n      - run: pnpm lint\n      - name: unit tests\n        run: |\n          pnpm test\n          pnpm build\n',
    },
    expected: [
      'Project: shop: An online shop',
      'Languages: TypeScript 75%, JavaScript 25%',
      '- build: pnpm build (vite build)',
      '- test: pnpm test (vitest run)',
      '- lint: pnpm lint (eslint .)',
      '- check: pnpm typecheck (tsc --noEmit)',
      '- start: pnpm dev (vite)',
      '- src/ (source, TypeScript, 3 files): cart pay',
      'Tests: vitest, src/**/*.test.ts (1)',
      'Instructions, not copied here: AGENTS.md, CLAUDE.md',
      'Conventions: package manager pnpm 9, Prettier, ESLint, indented with 2 spaces, strict TypeScript',
      'CI: .github/workflows/ci.yml runs pnpm lint; pnpm test; pnpm build',
      'Needs: Node >=22',
      'More commands: pnpm db:seed',
    ],
    untold: ['French', 'prebuild', 'a-label'],
  },
  'Python with uv': {
    files: {
      'pyproject.toml': [
        '[project]',
        'name = "sweeper"',
        "description = 'Sweeps # things'",
        'requires-python = ">=3.12"',
        'dependencies = [',
        '  "httpx>=0.27", # a comment with a ]',
        ']',
        '[tool.pytest.ini_options]',
        'testpaths = ["tests"]',
        '[tool.ruff.lint]',
        'select = ["E"]',
        '[tool.mypy]',
        'strict = true',
        '[tool.poe.tasks]',
        'serve = "uvicorn app:app"',
      ].join('\n'),
      'uv.lock': '',
      'src/sweeper/a.py': '',
      'tests/test_a.py': '',
      'tests/test_b.py': '',
      'tests/help.py': '',
    },
    expected: [
      'Project: sweeper: Sweeps # things',
      'Languages: Python',
      '- test: uv run pytest',
      '- lint: uv run ruff check',
      '- check: uv run mypy .',
      '- start: poe serve (uvicorn app:app)',
      'Layout:\n- src/sweeper/ (source, Python, 1 file)\n- tests/ (tests, Python, 3 files)\n',
      'tests/**/test_*.py (2)',
      'Conventions: package manager uv',
      'Needs: Python >=3.12',
    ],
  },
  'a Rust workspace': {
    files: {
      'Cargo.toml':
        '[workspace]\nmembers = ["crates/*"]\n[workspace.package]\nrust-version = "1.80"\n',
      'rustfmt.toml': '',
      'crates/core/Cargo.toml': '[package]\nname = "core"\n',
      'crates/core/src/lib.rs': '',
      'crates/cli/src/main.rs': '',
    },
    expected: [
      'Languages: Rust',
      '- test: cargo test --workspace',
      '- lint: cargo clippy --workspace',
      '- crates/ (crates, Rust, 3 files): cli core',
      'Conventions: rustfmt',
      'Needs: Rust 1.80',
    ],
  },
  'Go with a makefile': {
    files: {
      'go.mod': 'module example.org/sweep\n\ngo 1.23\n',
      Makefile:
        'GO := go\n.PHONY: test lint\nlint:\n\tgolangci-lint run\ntest: build\n\t$(GO) test ./...\nrelease:\n\t./release.sh\nbin/tool.o: x\n',
      '.golangci.yml': '',
      'cmd/sweep/main.go': '',
      'internal/lock/lock.go': '',
      'internal/lock/lock_test.go': '',
    },
    expected: [
      'Project: Go module example.org/sweep',
      '- test: go test ./...; make test',
      '- lint: go vet ./...; golangci-lint run; make lint',
      'internal/**/*_test.go (1)',
      'Conventions: golangci-lint',
      'Needs: Go 1.23',
      'More commands: make release',
    ],
    untold: ['tool.o', 'PHONY', 'GO'],
  },
  'Java with maven': {
    files: {
      'pom.xml':
        '<project><parent><artifactId>parent</artifactId></parent><artifactId>ledger</artifactId><properties><java.version>21</java.version></properties></project>',
      mvnw: '',
      'src/main/java/org/example/ledger/Ledger.java': '',
      'src/test/java/org/example/ledger/LedgerTest.java': '',
    },
    expected: [
      'Project: ledger',
      '- build: ./mvnw package',
      '- test: ./mvnw test',
      'src/**/*Test.java (1)',
      'Needs: Java 21',
    ],
  },
  'Kotlin with gradle': {
    files: {
      'build.gradle.kts': '',
      'settings.gradle.kts': 'rootProject.name = "tide"',
      gradlew: '',
      'app/src/A.kt': '',
    },
    expected: [
      'Project: tide',
      '- build: ./gradlew build',
      '- test: ./gradlew test',
      '- app/src/ (application, Kotlin, 1 file)',
    ],
  },
  'PHP with composer': {
    files: {
      'composer.json': json({
        name: 'acme/blog',
        scripts: { test: 'phpunit', lint: ['phpcs', 'phpstan'] },
      }),
      'src/Blog.php': '',
      'tests/BlogTest.php': '',
    },
    expected: [
      'Project: acme/blog',
      '- test: composer test (phpunit)',
      '- lint: composer lint',
      'tests/**/*Test.php (1)',
    ],
  },
  'anything with a justfile': {
    files: {
      justfile:
        'set shell := ["bash"]\nversion := "1"\ntest filter="":\n  pytest {{filter}}\nbuild:\n  make it\n',
      'a.sh': '',
    },
    expected: ['- build: just build', '- test: just test', 'Languages: Shell'],
    untold: ['just set', 'just version'],
  },
  'several projects side by side': {
    files: {
      'web/package.json': json({ name: 'web', scripts: { test: 'vitest' } }),
      'server/go.mod': 'module example.org/server\n',
      'web/a.ts': '',
      'server/a.go': '',
    },
    expected: [
      'Project: server/: Go module example.org/server; web/: web',
      'cd server && go test ./...; cd web && npm test (vitest)',
    ],
  },
  'what npm init leaves': {
    files: {
      'package.json': json({
        name: 'x',
        scripts: { test: 'echo "Error: no test specified" && exit 1' },
      }),
    },
    expected: ['Project: x', 'Conventions: package manager npm (no lock file)'],
    untold: ['test'],
  },
  'code of others': {
    files: {
      'main.c': '',
      'vendor/a/a.go': '',
      'third_party/b/b.py': '',
      'dist/bundle.js': '',
      'jquery.min.js': '',
    },
    expected: ['Languages: C\n'],
  },
}
