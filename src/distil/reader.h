// Reads a turn step by step, so that its events need not be in memory at once.
//
// It works between the store and the distiller: intake gives it each kept event of a turn in order, then asks
// for the summary, the observations and the open items. Its memory is bounded for any number of steps. It can
// be asked at any step, and a step costs the same however many came before: after n steps the
// result is the same as for a turn that has only these steps.
#pragma once

#include <string>
#include <string_view>

#include "distil/digest.h"
#include "distil/open_items.h"
#include "distil/turn.h"
#include "host/host.h"

namespace cairn::distil {

class TurnReader {
 public:
  // As Turn::host and Turn::root.
  TurnReader(std::string_view host, std::string root)
      : host_(host::find_host(host)), digester_(root), open_(root) {}

  void add(const Step& step);
  bool empty() const { return empty_; }

  // After the last step. `turn` is the same turn; its steps are not looked at.
  Distilled distil(const Turn& turn, const Mode& mode) const;
  LeftOpen left_open(const Turn& turn, const Mode& mode) const { return open_.left_open(turn, mode); }

  // What was read so far.
  const Digest& digest() const { return digester_.digest(); }

 private:
  const host::Host& host_;
  Digester digester_;
  OpenReader open_;
  bool empty_ = true;
};

}  // namespace cairn::distil
