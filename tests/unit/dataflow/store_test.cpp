// What places hold, without a front end: the program is made by hand.
#include "static_checks/domain/store.h"

#include <gtest/gtest.h>

namespace capgate::lint {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() { store.now = &state; }

  PathId variable(const char* name, const Type* type, Variable::Scope scope = Variable::Scope::local) {
    Variable& v = program.variables.emplace_back();
    v.id = static_cast<uint32_t>(program.variables.size());
    v.name = name;
    v.type = type;
    v.scope = scope;
    return store.paths.root(Step::variable, v.id);
  }
  Value tainted() const {
    Value v;
    v.taint = &trace;
    return v;
  }
  static Type of(Shape shape) {
    Type type;
    type.shape = shape;
    return type;
  }
  static Value number(int64_t n) {
    Value v;
    v.has_constant = true;
    v.constant = n;
    return v;
  }

  Program program;
  Store store{program};
  State state;
  Trace trace;
  Type scalar = of(Shape::scalar), pointer = of(Shape::pointer), object = of(Shape::record);
};

TEST_F(StoreTest, AStoreToOnePlaceReplacesWhatWasThere) {
  const PathId x = variable("x", &scalar);
  store.store({x}, tainted(), nullptr, &scalar);
  EXPECT_EQ(store.load({x}, &scalar).taint, &trace);
  store.store({x}, number(7), nullptr, &scalar);
  const Value v = store.load({x}, &scalar);
  EXPECT_EQ(v.taint, nullptr);
  EXPECT_TRUE(v.has_constant);
  EXPECT_EQ(v.constant, 7);
}

TEST_F(StoreTest, AStoreToOneOfTwoPlacesLeavesWhatBothMayHold) {
  const PathId x = variable("x", &scalar), y = variable("y", &scalar);
  store.store({x}, number(7), nullptr, &scalar);
  store.store({x, y}, tainted(), nullptr, &scalar);
  EXPECT_FALSE(store.load({x}, &scalar).has_constant);
  EXPECT_EQ(store.load({x}, &scalar).taint, &trace);
  EXPECT_EQ(store.load({y}, &scalar).taint, &trace);
  store.store({x, y}, number(1), nullptr, &scalar);
  EXPECT_EQ(store.load({x}, &scalar).taint, &trace) << "it may have gone to y";
}

TEST_F(StoreTest, AnUnknownIndexReadsAndWritesAllThatAreKnown) {
  const PathId a = variable("a", &object);
  const PathId first = store.paths.extend(a, Step::element, 0);
  const PathId second = store.paths.extend(a, Step::element, 1);
  const PathId any = store.paths.extend(a, Step::element, kAny);
  store.store({first}, tainted(), nullptr, &scalar);
  store.store({second}, number(2), nullptr, &scalar);
  EXPECT_EQ(store.load({any}, &scalar).taint, &trace);
  EXPECT_EQ(store.load({second}, &scalar).taint, nullptr);
  store.store({any}, tainted(), nullptr, &scalar);
  EXPECT_EQ(store.load({second}, &scalar).taint, &trace);
  EXPECT_FALSE(store.load({second}, &scalar).has_constant);
}

TEST_F(StoreTest, ACopyTakesTheFieldsAndNotTheMemory) {
  const PathId from = variable("from", &object), to = variable("to", &object);
  const uint32_t field = program.intern("field"), old = program.intern("old");
  store.store({store.paths.field(from, field)}, tainted(), nullptr, &scalar);
  store.set_memory(from, Memory::pinned);
  store.store({store.paths.field(to, old)}, tainted(), nullptr, &scalar);
  store.copy_tree(from, to, false);
  EXPECT_EQ(store.load({store.paths.field(to, field)}, &scalar).taint, &trace);
  EXPECT_EQ(store.load({store.paths.field(to, old)}, &scalar).taint, nullptr);
  EXPECT_EQ(store.memory_of(to), Memory::stack);
  EXPECT_EQ(store.memory_of(from), Memory::pinned);
}

TEST_F(StoreTest, APointersTargetIsNotWhereThePointerLies) {
  const PathId p = variable("p", &pointer);
  EXPECT_EQ(store.memory_of(p), Memory::stack);
  const Value v = store.load({p}, &pointer);
  ASSERT_EQ(store.target_sets[v.targets].size(), 1u);
  EXPECT_EQ(store.memory_of(store.target_sets[v.targets][0]), Memory::unknown);
  const PathId g = variable("g", &pointer, Variable::Scope::global);
  EXPECT_EQ(store.memory_of(g), Memory::unknown);
}

TEST_F(StoreTest, ABlockThatIsWrittenFromItsBeginningIsWrittenAsAWhole) {
  const PathId a = variable("a", &object);
  const PathId first = store.paths.extend(a, Step::element, 0);
  const PathId second = store.paths.extend(a, Step::element, 1);
  store.store({second}, number(2), nullptr, &scalar);
  store.write_memory(first, &trace, true);
  EXPECT_EQ(store.load({second}, &scalar).taint, &trace);
  store.write_memory(first, nullptr, true);
  EXPECT_EQ(store.load({second}, &scalar).taint, nullptr);
}

TEST_F(StoreTest, OneElementThatIsWrittenLeavesTheOthers) {
  const PathId a = variable("a", &object);
  const PathId first = store.paths.extend(a, Step::element, 0);
  const PathId second = store.paths.extend(a, Step::element, 1);
  store.store({second}, number(2), nullptr, &scalar);
  store.write_element(first, &trace, true);
  EXPECT_EQ(store.load({first}, &scalar).taint, &trace);
  EXPECT_EQ(store.load({second}, &scalar).constant, 2);
}

}  // namespace
}  // namespace capgate::lint
