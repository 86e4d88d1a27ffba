"""{name: (declarations, statements)}. `wait(s)` waits, `yes(s)` waits and is true; `d` is known only when the program runs."""

FUNCTIONS = """
using Fn = void (*)(cudaStream_t);
static void idle(cudaStream_t) {}
"""

GUARD = """
struct Guard {
  explicit Guard(cudaStream_t stream) : s(stream) {}
  ~Guard() { wait(s); }
  cudaStream_t s;
};
"""

BASE = """
struct Base {
  virtual ~Base() = default;
  virtual void run(cudaStream_t) {}
};
struct Derived : Base {
  void run(cudaStream_t s) override { wait(s); }
};
"""

ABSTRACT = """
struct Base {
  virtual ~Base() = default;
  virtual void run(cudaStream_t) = 0;
};
struct Idle : Base {
  void run(cudaStream_t) override {}
};
"""

CONSTRUCTS = {
    # ---- calls of what is named
    "plain_call": ("", "  wait(s);"),
    "argument": ("static void take(bool) {}", "  take(yes(s));"),
    "default_argument": ("static cudaStream_t current;\nstatic void take(int, bool = yes(current)) {}", "  take(d);"),
    "nested_call": ("static bool same(bool b) { return b; }", "  same(same(yes(s)));"),
    "recursive_call": ("static void down(cudaStream_t s, int n) { if (n) down(s, n - 1); wait(s); }", "  down(s, d);"),
    "template_call": ("template <class T> void run(T s) { wait(s); }", "  run(s);"),
    "template_pointer_argument": ("template <void (*F)(cudaStream_t)> void run(cudaStream_t s) { F(s); }", "  run<wait>(s);"),
    "pack_expansion": ("template <class... T> void run(T... s) { (wait(s), ...); }", "  run(s, s);"),
    "overload": ("static void run(int) {}\nstatic void run(cudaStream_t s) { wait(s); }", "  run(s);"),
    "static_method": ("struct A { static void run(cudaStream_t s) { wait(s); } };", "  A::run(s);"),
    "method": ("struct A { void run(cudaStream_t s) { wait(s); } };", "  A a;\n  a.run(s);"),
    "method_of_a_temporary": ("struct A { void run(cudaStream_t s) { wait(s); } };", "  A().run(s);"),
    "inherited_method": ("struct A { void run(cudaStream_t s) { wait(s); } };\nstruct B : A {};", "  B b;\n  b.run(s);"),
    "call_operator": ("struct A { void operator()(cudaStream_t s) const { wait(s); } };", "  A a;\n  a(s);"),
    "binary_operator": (
        "struct A { cudaStream_t s; };\nstatic A operator+(A a, A) { wait(a.s); return a; }",
        "  A a{s};\n  (void)(a + a);",
    ),
    "compound_operator": ("struct A { cudaStream_t s; A& operator+=(int) { wait(s); return *this; } };", "  A a{s};\n  a += 1;"),
    "index_operator": ("struct A { cudaStream_t s; int operator[](int i) { wait(s); return i; } };", "  A a{s};\n  (void)a[d];"),
    "arrow_operator": (
        "struct B { int x = 0; };\nstruct A { cudaStream_t s; B b; B* operator->() { wait(s); return &b; } };",
        "  A a{s, {}};\n  a->x = 1;",
    ),
    "deref_operator": ("struct A { cudaStream_t s; int x; int& operator*() { wait(s); return x; } };", "  A a{s, 0};\n  *a = 1;"),
    "increment_operator": ("struct A { cudaStream_t s; A& operator++() { wait(s); return *this; } };", "  A a{s};\n  ++a;"),
    "comma_operator": (
        "struct A { cudaStream_t s; };\nstatic int operator,(A a, int n) { wait(a.s); return n; }",
        "  A a{s};\n  (void)(a, 1);",
    ),
    "assignment_operator": (
        "struct A { cudaStream_t s; A& operator=(const A& o) { wait(o.s); return *this; } };",
        "  A a{s}, b{s};\n  b = a;",
    ),
    "conversion": ("struct A { cudaStream_t s; operator int() const { wait(s); return 1; } };", "  A a{s};\n  int n = a;\n  (void)n;"),
    "conversion_in_a_condition": (
        "struct A { cudaStream_t s; explicit operator bool() const { wait(s); return true; } };",
        "  A a{s};\n  if (a) kernel<<<1, 1, 0, s>>>(nullptr);",
    ),
    "constructor": ("struct A { explicit A(cudaStream_t s) { wait(s); } };", "  A a(s);"),
    "copy_constructor": (
        "struct A { cudaStream_t s; explicit A(cudaStream_t x) : s(x) {} A(const A& o) : s(o.s) { wait(s); } };",
        "  A a(s);\n  A b = a;\n  (void)b;",
    ),
    "constructor_of_a_member": (
        "struct A { explicit A(cudaStream_t s) { wait(s); } };\nstruct B { A a; explicit B(cudaStream_t s) : a(s) {} };",
        "  B b(s);",
    ),
    "constructor_of_a_base": (
        "struct A { explicit A(cudaStream_t s) { wait(s); } };\nstruct B : A { using A::A; explicit B(cudaStream_t s, int) : A(s) {} };",
        "  B b(s, 1);",
    ),
    "implicit_base_constructor": (
        "static cudaStream_t current;\nstruct A { A() { wait(current); } };\nstruct B : A { B() {} };",
        "  B b;\n  (void)b;",
    ),
    "delegating_constructor": ("struct A { explicit A(cudaStream_t s) { wait(s); } A(cudaStream_t s, int) : A(s) {} };", "  A a(s, 1);"),
    "member_initialiser": ("static cudaStream_t current;\nstruct A { bool b = yes(current); };", "  A a;\n  (void)a;"),
    "new_expression": ("struct A { explicit A(cudaStream_t s) { wait(s); } };", "  A* a = new A(s);\n  (void)a;"),
    "braces": ("struct A { bool a, b; };", "  A a{true, yes(s)};\n  (void)a;"),
    # ---- ends of objects
    "destructor": (GUARD, "  Guard g(s);"),
    "destructor_of_a_temporary": (GUARD, "  Guard{s};"),
    "destructor_of_an_argument": (GUARD + "static void take(const Guard&) {}", "  take(Guard(s));"),
    "destructor_of_a_result": (GUARD + "static Guard make(cudaStream_t s) { return Guard(s); }", "  make(s);"),
    "destructor_of_a_member": (GUARD + "struct B { Guard g; };", "  B b{Guard(s)};\n  (void)b;"),
    "destructor_of_an_array": (GUARD, "  Guard g[2] = {Guard(s), Guard(s)};\n  (void)g;"),
    "destructor_of_a_base": (GUARD + "struct B : Guard { using Guard::Guard; };", "  B b(s);"),
    "destructor_in_a_vector": (GUARD, "  std::vector<Guard> v;\n  v.emplace_back(s);"),
    "destructor_in_a_unique_ptr": (GUARD, "  auto p = std::make_unique<Guard>(s);"),
    "destructor_in_a_shared_ptr": (GUARD, "  auto p = std::make_shared<Guard>(s);"),
    "destructor_in_an_optional": (GUARD, "  std::optional<Guard> p;\n  p.emplace(s);"),
    "destructor_in_a_map": (GUARD, "  std::map<int, Guard> m;\n  m.emplace(d, s);"),
    "delete_expression": (GUARD + "static Guard* find(int);", "  delete find(d);"),
    "virtual_destructor": (
        "struct Base { virtual ~Base() = default; };\nstruct Derived : Base { cudaStream_t s; ~Derived() override { wait(s); } };\nstatic Base* find(int);",
        "  delete find(d);",
    ),
    # ---- calls of values
    "function_pointer": (FUNCTIONS, "  Fn f = wait;\n  f(s);"),
    "chosen_pointer": (FUNCTIONS, "  Fn f = d ? wait : idle;\n  f(s);"),
    "call_of_a_choice": (FUNCTIONS, "  (d ? wait : idle)(s);"),
    "call_of_a_result": (FUNCTIONS + "static Fn get(int d) { switch (d) { case 1: return wait; default: return idle; } }", "  get(d)(s);"),
    "result_in_a_variable": (FUNCTIONS + "static Fn get(int d) { return d ? idle : wait; }", "  Fn f = get(d);\n  f(s);"),
    "result_of_a_template": (
        FUNCTIONS
        + "template <int N> void impl(cudaStream_t s) { if (N) wait(s); }\nstatic Fn pick(int d) { return d == 2 ? &impl<2> : &impl<0>; }",
        "  pick(d)(s);",
    ),
    "result_of_an_unknown_function": (FUNCTIONS + "static Fn outside(int);", "  outside(d)(s);"),
    "local_table": (FUNCTIONS, "  const Fn t[2] = {idle, wait};\n  t[d](s);"),
    "static_local_table": (FUNCTIONS, "  static const Fn t[2] = {idle, wait};\n  t[d](s);"),
    "global_table": (FUNCTIONS + "static const Fn table[] = {idle, wait};", "  table[d](s);"),
    "mutable_global_pointer": (FUNCTIONS + "static Fn current = wait;", "  current(s);"),
    "table_of_structs": (
        FUNCTIONS + "struct Entry { int key; Fn run; };\nstatic const Entry table[] = {{1, idle}, {2, wait}};",
        "  table[d].run(s);",
    ),
    "table_that_is_searched": (
        FUNCTIONS + "struct Entry { int key; Fn run; };\nstatic const Entry table[] = {{1, idle}, {2, wait}};",
        "  for (const Entry& e : table)\n    if (e.key == d) e.run(s);",
    ),
    "array_of_functions": (FUNCTIONS + "static const std::array<Fn, 2> table = {idle, wait};", "  table[d](s);"),
    "map_at": (FUNCTIONS + "static const std::map<int, Fn> table = {{1, idle}, {2, wait}};", "  table.at(d)(s);"),
    "map_find": (
        FUNCTIONS + "static const std::map<int, Fn> table = {{1, idle}, {2, wait}};",
        "  auto it = table.find(d);\n  if (it != table.end()) it->second(s);",
    ),
    "map_index": (FUNCTIONS + "static std::unordered_map<int, Fn> table = {{1, idle}, {2, wait}};", "  table[d](s);"),
    "map_of_lambdas": (
        "static const std::map<int, std::function<void(cudaStream_t)>> table = {{1, [](cudaStream_t s) { wait(s); }}};",
        "  table.at(d)(s);",
    ),
    "registry": (
        FUNCTIONS
        + 'static std::map<std::string, Fn>& registry() { static std::map<std::string, Fn> r; return r; }\nstatic void enter() { registry()["a"] = wait; }',
        '  (void)enter;\n  registry()["a"](s);',
    ),
    "vector_of_functions": (FUNCTIONS, "  std::vector<Fn> v;\n  v.push_back(idle);\n  v.push_back(wait);\n  v[d](s);"),
    "loop_over_functions": (FUNCTIONS, "  std::vector<std::function<void(cudaStream_t)>> v{idle, wait};\n  for (auto& f : v) f(s);"),
    "member_pointer": (FUNCTIONS + "struct A { Fn f; };", "  A a{wait};\n  a.f(s);"),
    "pointer_parameter": (FUNCTIONS + "static void run(Fn f, cudaStream_t s) { f(s); }", "  run(wait, s);"),
    "pointer_to_a_method": (
        "struct A { void run(cudaStream_t s) { wait(s); } };",
        "  A a;\n  void (A::*m)(cudaStream_t) = &A::run;\n  (a.*m)(s);",
    ),
    "lambda": ("", "  auto f = [s] { wait(s); };\n  f();"),
    "lambda_at_once": ("", "  [&] { wait(s); }();"),
    "lambda_capture": ("", "  auto f = [b = yes(s)] { return b; };\n  (void)f;"),
    "generic_lambda": ("", "  auto f = [](auto x) { wait(x); };\n  f(s);"),
    "generic_lambda_of_a_pack": (
        "template <class... T> static void all(cudaStream_t s, T...) { wait(s); }",
        "  auto f = [&](auto... x) { all(s, x...); };\n  std::apply(f, std::make_tuple(1, 2.0f));",
    ),
    "generic_lambda_in_a_class_template": (
        "struct View { float* data() const { return nullptr; } };\n"
        "template <class E> struct X {\n"
        "  template <class... S> static void add(cudaStream_t s, S... views) {\n"
        "    const auto kept = std::make_tuple(views...);\n"
        "    auto f = [kept](cudaStream_t st) {\n"
        "      std::apply([&](const auto&... a) { X::compute(st, a.data()...); }, kept);\n    };\n    f(s);\n  }\n"
        "  template <class... S> static void compute(cudaStream_t s, S*...) { wait(s); }\n};",
        "  X<int>::add(s, View{}, View{});",
    ),
    "generic_lambda_in_an_algorithm": (
        "struct Layer { void run(cudaStream_t s) { wait(s); } };",
        "  std::vector<Layer> v(3);\n  std::for_each(v.begin(), v.end(), [s](auto& layer) { layer.run(s); });",
    ),
    "generic_lambda_in_a_std_function": (
        "struct Layer { void run(cudaStream_t s) { wait(s); } };",
        "  std::function<void(Layer)> f = [s](auto layer) { layer.run(s); };\n  f(Layer{});",
    ),
    "generic_lambda_in_a_visit": (
        "struct One { void run(cudaStream_t) {} };\nstruct Two { void run(cudaStream_t s) { wait(s); } };",
        "  std::variant<One, Two> v = Two{};\n  std::visit([s](auto& one) { one.run(s); }, v);",
    ),
    "local_class": (
        ABSTRACT,
        "  struct Local : Base { void run(cudaStream_t t) override { wait(t); } };\n  Local l;\n  Base& b = l;\n  b.run(s);",
    ),
    "local_class_elsewhere": (
        ABSTRACT + "static void go(Base& b, cudaStream_t s) { b.run(s); }\n"
        "static Base* made() {\n  struct Local : Base { void run(cudaStream_t t) override { wait(t); } };\n"
        "  static Local l;\n  return &l;\n}",
        "  go(*made(), s);",
    ),
    "local_class_in_a_lambda": (
        ABSTRACT + "static auto made = [] {\n  struct Local : Base { void run(cudaStream_t t) override { wait(t); } };\n"
        "  return std::make_unique<Local>();\n};",
        "  std::unique_ptr<Base> b = made();\n  b->run(s);",
    ),
    "local_class_in_a_template": (
        ABSTRACT + "template <class T> static std::unique_ptr<Base> made() {\n"
        "  struct Local : Base { void run(cudaStream_t t) override { wait(t); } };\n  return std::make_unique<Local>();\n}",
        "  made<int>()->run(s);",
    ),
    "method_of_an_abstract_class": (
        ABSTRACT + "struct Half : Base {\n  void run(cudaStream_t t) override { wait(t); }\n  virtual void other() = 0;\n};\n"
        "struct Whole : Half { void other() override {} };\nstatic std::unique_ptr<Base> made() { return std::make_unique<Whole>(); }",
        "  made()->run(s);",
    ),
    "method_of_an_abstract_class_made_of_a_template": (
        ABSTRACT + "struct Half : Base {\n  void run(cudaStream_t t) override { wait(t); }\n  virtual void other() = 0;\n};\n"
        "template <class T> struct Whole : Half { void other() override {} };\n"
        "static std::unique_ptr<Base> made() { return std::make_unique<Whole<int>>(); }",
        "  made()->run(s);",
    ),
    "method_of_an_abstract_class_of_a_local_one": (
        ABSTRACT + "struct Half : Base {\n  void run(cudaStream_t t) override { wait(t); }\n  virtual void other() = 0;\n};\n"
        "static Base* made() {\n  struct Whole : Half { void other() override {} };\n  static Whole one;\n  return &one;\n}",
        "  made()->run(s);",
    ),
    "operand_that_clang_refuses": (
        "static void use(void*) {}\nstatic void* memory(cudaStream_t s) { wait(s); return nullptr; }",
        "  use(memory(s) + 16);",
    ),
    "value_that_clang_refuses": (
        "static void use(void*, cudaStream_t s) { wait(s); }",
        "  void* p = nullptr;\n  auto q = p + d;\n  use(q, s);",
    ),
    "lambda_parameter": ("template <class F> void run(F f) { f(); }", "  run([&] { wait(s); });"),
    "std_function": ("", "  std::function<void()> f = [s] { wait(s); };\n  f();"),
    "std_function_parameter": ("static void run(const std::function<void()>& f) { f(); }", "  run([s] { wait(s); });"),
    "unknown_std_function": ("struct A { std::function<void(cudaStream_t)> f; };\nstatic A& outside(int);", "  outside(d).f(s);"),
    "std_bind": ("", "  auto f = std::bind(wait, s);\n  f();"),
    "std_invoke": ("", "  std::invoke(wait, s);"),
    "std_apply": ("", "  std::apply(wait, std::make_tuple(s));"),
    "std_visit": ("", "  std::variant<int, float> v = 1;\n  std::visit([&](auto) { wait(s); }, v);"),
    "algorithm_with_a_lambda": ("", "  std::vector<int> v(3);\n  std::for_each(v.begin(), v.end(), [&](int) { wait(s); });"),
    "algorithm_with_an_object": (
        "struct A { cudaStream_t s; void operator()(int) const { wait(s); } };",
        "  std::vector<int> v(3);\n  std::for_each(v.begin(), v.end(), A{s});",
    ),
    "algorithm_with_a_pointer": (
        "static cudaStream_t current;\nstatic void each(int) { wait(current); }",
        "  std::vector<int> v(3);\n  std::for_each(v.begin(), v.end(), each);",
    ),
    "comparator": (
        "struct A { cudaStream_t s; bool operator<(const A& o) const { wait(s); return s < o.s; } };",
        "  std::vector<A> v{{s}, {s}};\n  std::sort(v.begin(), v.end());",
    ),
    # ---- virtual calls
    "virtual_call": (BASE + "static Base& find(int);", "  find(d).run(s);"),
    "virtual_call_through_a_pointer": (BASE, "  std::unique_ptr<Base> p = std::make_unique<Derived>();\n  p->run(s);"),
    "pure_virtual_call": (
        "struct Base { virtual void run(cudaStream_t) = 0; };\nstruct Other : Base { void run(cudaStream_t) override {} };\nstruct Derived : Base { void run(cudaStream_t s) override { wait(s); } };\nstatic Base* find(int);",
        "  find(d)->run(s);",
    ),
    "overrider_in_a_template": (
        "template <class T> struct Base { virtual void run(cudaStream_t) = 0; };\nstruct Other : Base<float> { void run(cudaStream_t) override {} };\ntemplate <class T> struct Derived : Base<T> { void run(cudaStream_t s) override { wait(s); } };\ntemplate struct Derived<float>;\nstatic Base<float>* find(int);",
        "  find(d)->run(s);",
    ),
    "virtual_call_from_a_base": (
        "struct Base { virtual void part(cudaStream_t) {} void run(cudaStream_t s) { part(s); } };\nstruct Derived : Base { void part(cudaStream_t s) override { wait(s); } };",
        "  Derived b;\n  b.run(s);",
    ),
    "static_polymorphism": (
        "template <class D> struct Base { void run(cudaStream_t s) { static_cast<D*>(this)->part(s); } };\nstruct Derived : Base<Derived> { void part(cudaStream_t s) { wait(s); } };",
        "  Derived b;\n  b.run(s);",
    ),
    # ---- conditions
    "if_condition": ("", "  if (yes(s)) kernel<<<1, 1, 0, s>>>(nullptr);"),
    "if_initialiser": ("", "  if (bool b = yes(s); b && d) kernel<<<1, 1, 0, s>>>(nullptr);"),
    "if_declaration": ("", "  if (bool b = yes(s)) (void)b;"),
    "else_branch": ("", "  if (d) kernel<<<1, 1, 0, s>>>(nullptr);\n  else wait(s);"),
    "if_constexpr": ("template <bool B> void run(cudaStream_t s) { if constexpr (B) wait(s); }", "  run<true>(s);"),
    "conditional_operator": ("", "  int n = d ? (wait(s), 1) : 2;\n  (void)n;"),
    "condition_between_values": ("", "  int n = yes(s) ? 1 : 2;\n  (void)n;"),
    "condition_between_objects": (
        "struct Big { int x[9]; Big() {} Big(const Big& o) { x[0] = o.x[0]; } };",
        "  Big a, b;\n  Big c = yes(s) ? a : b;\n  (void)c;",
    ),
    "condition_between_references": ("struct Big { int x[9]; };", "  Big a, b;\n  const auto& c = yes(s) ? a : b;\n  (void)c;"),
    "condition_of_a_result": (
        "struct Big { int x[9]; Big() {} Big(const Big& o) { x[0] = o.x[0]; } };\nstatic Big pick(cudaStream_t s, const Big& a, const Big& b) { return yes(s) ? a : b; }",
        "  Big a, b;\n  pick(s, a, b);",
    ),
    "condition_in_a_launch": ("", "  dim3 a(1), b(2);\n  kernel<<<(yes(s) ? a : b), 1, 0, s>>>(nullptr);"),
    "condition_of_an_argument": ("static void take(const std::string&) {}", "  const std::string a, b;\n  take(yes(s) ? a : b);"),
    "elvis_operator": ("static int count(cudaStream_t s) { wait(s); return 1; }", "  int n = count(s) ?: 2;\n  (void)n;"),
    "and_operator": ("", "  bool b = d && yes(s);\n  (void)b;"),
    "or_operator": ("", "  if (d || yes(s)) kernel<<<1, 1, 0, s>>>(nullptr);"),
    "switch_condition": ("static int count(cudaStream_t s) { wait(s); return 1; }", "  switch (count(s)) { default: break; }"),
    "switch_case": ("", "  switch (d) { case 1: wait(s); break; default: break; }"),
    "while_condition": ("", "  while (d-- && yes(s)) {}"),
    "do_condition": ("", "  do {} while (d-- && yes(s));"),
    "for_parts": ("", "  for (int i = 0; i < d; wait(s), ++i) {}"),
    "for_condition": ("", "  for (int i = 0; i < d && yes(s); ++i) {}"),
    "range_initialiser": ("static std::vector<int> list(cudaStream_t s) { wait(s); return {}; }", "  for (int i : list(s)) (void)i;"),
    "range_of_the_users": (
        "static cudaStream_t current;\nstruct It { int i; int operator*() const { return i; } It& operator++() { wait(current); ++i; return *this; } bool operator!=(const It& o) const { return i != o.i; } };\nstruct Range { It begin() const { return {0}; } It end() const { return {3}; } };",
        "  Range r;\n  for (int i : r) (void)i;",
    ),
    "goto_label": ("", "  if (d) goto out;\n  return;\nout:\n  wait(s);"),
    "return_value": ("static bool run(cudaStream_t s) { return yes(s); }", "  run(s);"),
    "try_block": ("static void run(cudaStream_t s) { try { wait(s); } catch (...) {} }", "  run(s);"),
    "catch_block": ("static void may(int d) { if (d) throw 1; }", "  try { may(d); } catch (int) { wait(s); }"),
    "function_try_block": ("static void run(cudaStream_t s) try { wait(s); } catch (...) {}", "  run(s);"),
    "throw_expression": ("static int value(cudaStream_t s) { wait(s); return 1; }", "  try { if (d) throw value(s); } catch (int) {}"),
    "statement_expression": ("", "  int n = ({ wait(s); 1; });\n  (void)n;"),
    "structured_binding": (
        "static std::pair<int, int> both(cudaStream_t s) { wait(s); return {1, 2}; }",
        "  auto [a, b] = both(s);\n  (void)a; (void)b;",
    ),
    "static_local": ("static int value(cudaStream_t s) { wait(s); return 1; }", "  static int n = value(s);\n  (void)n;"),
    "macro": ("#define RUN(x) do { wait(x); } while (0)", "  RUN(s);"),
    "comma_expression": ("", "  int n = (wait(s), 1);\n  (void)n;"),
    "array_bound": ("static int count(cudaStream_t s) { wait(s); return 1; }", "  int* p = new int[count(s)];\n  (void)p;"),
    "subscript": ("static int count(cudaStream_t s) { wait(s); return 1; }", "  int a[4] = {};\n  (void)a[count(s)];"),
    "launch_argument": ("static float* data(cudaStream_t s) { wait(s); return nullptr; }", "  kernel<<<1, 1, 0, s>>>(data(s));"),
    "launch_configuration": ("static int count(cudaStream_t s) { wait(s); return 1; }", "  kernel<<<count(s), 1, 0, s>>>(nullptr);"),
    "cast": ("static int count(cudaStream_t s) { wait(s); return 1; }", "  auto n = static_cast<long>(count(s));\n  (void)n;"),
    "user_literal": (
        'static cudaStream_t current;\nstatic int operator""_w(unsigned long long n) { wait(current); return static_cast<int>(n); }',
        "  (void)5_w;",
    ),
    "placement_new": ("struct A { explicit A(cudaStream_t s) { wait(s); } };", "  alignas(A) char room[sizeof(A)];\n  ::new (room) A(s);"),
    "class_operator_new": (
        "static cudaStream_t current;\nstruct A { static void* operator new(size_t n) { wait(current); return ::operator new(n); } };",
        "  A* a = new A;\n  (void)a;",
    ),
    "deleter": (
        "static cudaStream_t current;\nstruct Delete { void operator()(int* p) const { wait(current); delete p; } };",
        "  std::unique_ptr<int, Delete> p(new int);",
    ),
    # ---- ends of objects that are held in unusual ways
    "released_pointer": (GUARD, "  Guard* g = std::make_unique<Guard>(s).release();\n  delete g;"),
    "reset_of_a_kept_pointer": (GUARD + "static std::unique_ptr<Guard> kept;", "  kept = std::make_unique<Guard>(s);\n  kept.reset();"),
    "reset_with_another": (
        GUARD + "static std::unique_ptr<Guard> kept;",
        "  kept = std::make_unique<Guard>(s);\n  kept.reset(new Guard(s));",
    ),
    "assigned_over": (GUARD + "static std::unique_ptr<Guard> kept;", "  kept = std::make_unique<Guard>(s);\n  kept = nullptr;"),
    "swapped_pointer": (GUARD + "static std::unique_ptr<Guard> kept;", "  auto p = std::make_unique<Guard>(s);\n  p.swap(kept);"),
    "moved_pointer": (GUARD, "  auto p = std::make_unique<Guard>(s);\n  auto q = std::move(p);"),
    "reset_of_a_shared_pointer": (GUARD + "static std::shared_ptr<Guard> kept;", "  kept = std::make_shared<Guard>(s);\n  kept.reset();"),
    "reset_of_an_optional": (GUARD + "static std::optional<Guard> kept;", "  kept.emplace(s);\n  kept.reset();"),
    "optional_in_place": (GUARD, "  std::optional<Guard> g(std::in_place, s);"),
    "destructor_in_a_variant": (GUARD, "  std::variant<std::monostate, Guard> v;\n  v.emplace<Guard>(s);"),
    "destructor_in_an_array": (GUARD, "  std::array<Guard, 2> a{Guard(s), Guard(s)};"),
    "destructor_in_a_tuple": (GUARD, "  std::tuple<Guard, int> t(Guard(s), 1);"),
    "destructor_in_a_pair": (GUARD, "  std::pair<int, Guard> p(1, Guard(s));"),
    "vector_clear": (GUARD + "static std::vector<Guard> kept;", "  kept.clear();"),
    "vector_pop_back": (GUARD + "static std::vector<Guard> kept;", "  kept.pop_back();"),
    "map_erase": (GUARD + "static std::map<int, Guard> kept;", "  kept.erase(d);"),
    "scope_exit": ("template <class F> struct Exit { F f; ~Exit() { f(); } };", "  Exit e{[&] { wait(s); }};"),
    "virtual_destructor_in_a_unique_ptr": (
        "struct Base { virtual ~Base() = default; };\nstruct Derived : Base { cudaStream_t s = nullptr; ~Derived() override { wait(s); } };",
        "  std::unique_ptr<Base> p = std::make_unique<Derived>();",
    ),
    # ---- calls that are written in unusual ways
    "qualified_call": (
        "struct Base { virtual ~Base() = default; virtual void run(cudaStream_t s) { wait(s); } };\nstruct Derived : Base { void run(cudaStream_t) override {} void go(cudaStream_t s) { Base::run(s); } };",
        "  Derived b;\n  b.go(s);",
    ),
    "this_in_a_lambda": (
        "struct A { cudaStream_t s; void end() { wait(s); } void run() { [this] { end(); }(); } };",
        "  A a{s};\n  a.run();",
    ),
    "virtual_call_in_a_lambda": (
        "struct Base { virtual ~Base() = default; virtual void part(cudaStream_t) {} void run(cudaStream_t s) { [&] { part(s); }(); } };\nstruct Derived : Base { void part(cudaStream_t s) override { wait(s); } };",
        "  Derived b;\n  b.run(s);",
    ),
    "member_in_a_lambda": (
        "using Fn = void (*)(cudaStream_t);\nstruct A { Fn f = nullptr; void run(cudaStream_t s) { [&] { f(s); }(); } };",
        "  A a;\n  a.f = wait;\n  a.run(s);",
    ),
    "function_reference": ("", "  void (&f)(cudaStream_t) = wait;\n  f(s);"),
    "pointer_to_a_pointer": (FUNCTIONS, "  Fn f = wait;\n  Fn* p = &f;\n  (*p)(s);"),
    "objects_in_a_vector": (
        BASE,
        "  std::vector<std::unique_ptr<Base>> v;\n  v.push_back(std::make_unique<Derived>());\n  for (auto& b : v) b->run(s);",
    ),
    "visitor_object": (
        "struct V { cudaStream_t s; void operator()(int) const { wait(s); } void operator()(float) const {} };",
        "  std::variant<int, float> v = 1;\n  std::visit(V{s}, v);",
    ),
    "optional_function": ("", "  std::optional<std::function<void()>> f;\n  f.emplace([s] { wait(s); });\n  (*f)();"),
    "call_once": ("", "  static std::once_flag once;\n  std::call_once(once, [&] { wait(s); });"),
    "array_of_results": ("", "  bool a[] = {yes(s), false};\n  (void)a;"),
    "new_of_a_result": ("", "  bool* p = new bool(yes(s));\n  (void)p;"),
    "conversion_of_a_stream": (
        "struct H { cudaStream_t s; operator cudaStream_t() const { wait(s); return s; } };",
        "  H h{s};\n  kernel<<<1, 1, 0, h>>>(nullptr);",
    ),
    "reference_wrapper": ("", "  auto f = [&] { wait(s); };\n  std::ref(f)();"),
    "mem_fn": ("struct A { void run(cudaStream_t s) { wait(s); } };", "  A a;\n  std::mem_fn(&A::run)(a, s);"),
    "invoke_of_a_method": ("struct A { void run(cudaStream_t s) { wait(s); } };", "  A a;\n  std::invoke(&A::run, a, s);"),
    "exchanged_function": (FUNCTIONS, "  Fn f = wait;\n  std::exchange(f, nullptr)(s);"),
    "bind_with_placeholders": ("", "  std::bind(wait, std::placeholders::_1)(s);"),
    "emplaced_in_a_map": (
        "static std::map<int, std::function<void(cudaStream_t)>> table;",
        "  table.emplace(1, [](cudaStream_t x) { wait(x); });\n  table.at(1)(s);",
    ),
    "initialised_by_a_lambda": (
        "static cudaStream_t current;\nstruct A { int n = [] { wait(current); return 1; }(); };",
        "  A a;\n  (void)a;",
    ),
    "ordering_of_a_map": (
        "static cudaStream_t current;\nstruct Less { bool operator()(int a, int b) const { wait(current); return a < b; } };\nstatic std::map<int, int, Less> table;",
        "  table[d] = 1;",
    ),
    "hash_of_a_map": (
        "static cudaStream_t current;\nstruct Hash { size_t operator()(int a) const { wait(current); return static_cast<size_t>(a); } };\nstatic std::unordered_map<int, int, Hash> table;",
        "  table[d] = 1;",
    ),
    "allocator": (
        "static cudaStream_t current;\ntemplate <class T> struct Alloc { using value_type = T; T* allocate(size_t n) { wait(current); return static_cast<T*>(::operator new(n * sizeof(T))); } void deallocate(T* p, size_t) { ::operator delete(p); } };",
        "  std::vector<int, Alloc<int>> v(3);",
    ),
    "copy_in_a_vector": (
        "struct A { cudaStream_t s; explicit A(cudaStream_t x) : s(x) {} A(const A& o) : s(o.s) { wait(s); } };",
        "  A a(s);\n  std::vector<A> v;\n  v.push_back(a);",
    ),
    "moved_by_a_swap": (
        "struct A { cudaStream_t s; explicit A(cudaStream_t x) : s(x) {} A(A&& o) noexcept : s(o.s) { wait(s); } A& operator=(A&&) noexcept { return *this; } };",
        "  A a(s), b(s);\n  std::swap(a, b);",
    ),
    "iterator_in_an_algorithm": (
        "static cudaStream_t current;\nstruct It { using iterator_category = std::input_iterator_tag; using value_type = int; using difference_type = long; using pointer = int*; using reference = int; int i; int operator*() const { wait(current); return i; } It& operator++() { ++i; return *this; } It operator++(int) { It o = *this; ++i; return o; } bool operator==(const It& o) const { return i == o.i; } bool operator!=(const It& o) const { return i != o.i; } };",
        "  int out[4];\n  std::copy(It{0}, It{3}, out);",
    ),
    "recursive_lambda": ("", "  std::function<void(int)> f = [&](int n) { if (n) f(n - 1); else wait(s); };\n  f(d);"),
    "called_by_a_comparison": (
        "struct A { cudaStream_t s; bool operator==(const A& o) const { wait(s); return s == o.s; } };",
        "  A a{s}, b{s};\n  if (a != b) kernel<<<1, 1, 0, s>>>(nullptr);",
    ),
    "spaceship": (
        "struct A { int v; cudaStream_t s; int operator<=>(int o) const { wait(s); return v - o; } };",
        "  A a{1, s};\n  if (a < d) kernel<<<1, 1, 0, s>>>(nullptr);",
    ),
}

CAPTURE = """
struct Capture {
  explicit Capture(cudaStream_t stream) : s(stream) { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }
  ~Capture() { cudaGraph_t g; cudaStreamEndCapture(s, &g); }
  cudaStream_t s;
};
"""

# A guard whose capture lasts as long as it does, held in all ways; the wait stands in the capture.
HELD = {
    "held_by_name": "  Capture c(s);\n  wait(s);",
    "held_by_new": "  Capture* c = new Capture(s);\n  wait(s);\n  delete c;",
    "held_in_a_unique_ptr": "  auto c = std::make_unique<Capture>(s);\n  wait(s);",
    "held_in_a_shared_ptr": "  auto c = std::make_shared<Capture>(s);\n  wait(s);",
    "held_and_released": "  Capture* c = std::make_unique<Capture>(s).release();\n  wait(s);\n  delete c;",
    "held_and_released_later": "  auto p = std::make_unique<Capture>(s);\n  Capture* c = p.release();\n  wait(s);\n  delete c;",
    "held_by_reset": "  std::unique_ptr<Capture> c;\n  c.reset(new Capture(s));\n  wait(s);",
    "held_by_assignment": "  std::unique_ptr<Capture> c;\n  c = std::make_unique<Capture>(s);\n  wait(s);",
    "held_and_moved": "  auto p = std::make_unique<Capture>(s);\n  auto c = std::move(p);\n  wait(s);",
    "held_and_swapped": "  auto p = std::make_unique<Capture>(s);\n  std::unique_ptr<Capture> c;\n  c.swap(p);\n  p.reset();\n  wait(s);",
    "held_and_exchanged": "  auto p = std::make_unique<Capture>(s);\n  auto c = std::exchange(p, nullptr);\n  wait(s);",
    "held_in_an_optional": "  std::optional<Capture> c;\n  c.emplace(s);\n  wait(s);",
    "held_in_place": "  std::optional<Capture> c(std::in_place, s);\n  wait(s);",
    "held_by_make_optional": "  auto c = std::make_optional<Capture>(s);\n  wait(s);",
    "held_in_a_variant": "  std::variant<std::monostate, Capture> c;\n  c.emplace<Capture>(s);\n  wait(s);",
    "held_in_an_array": "  Capture c[1] = {Capture(s)};\n  wait(s);",
    "held_in_a_std_array": "  std::array<Capture, 1> c{Capture(s)};\n  wait(s);",
    "held_in_a_vector": "  std::vector<Capture> c;\n  c.emplace_back(s);\n  wait(s);",
    "held_in_a_list": "  std::list<Capture> c;\n  c.emplace_back(s);\n  wait(s);",
    "held_in_a_map": "  std::map<int, Capture> c;\n  c.emplace(1, s);\n  wait(s);",
    "held_in_a_vector_of_pointers": "  std::vector<std::unique_ptr<Capture>> c;\n  c.push_back(std::make_unique<Capture>(s));\n  wait(s);",
    "held_in_a_member": "  struct Holder { Capture c; } h{Capture(s)};\n  wait(s);",
    "held_by_a_lambda": "  auto c = std::make_unique<Capture>(s);\n  auto run = [c = std::move(c), s] { wait(s); };\n  run();",
    "held_by_a_reference": "  const Capture& c = Capture(s);\n  wait(s);",
}
